// SPDX-License-Identifier: PostgreSQL
//
// Opens the report from the disk in headless Chromium, light, dark, narrow and printed, and looks: nothing
// overflows, every link inside the page lands, nothing is fetched, the console is silent, axe-core has nothing to say.
//
//   node browser.mjs [--shots DIR [--sheets]] PAGE.html ...    pictures of each page's top, or of all of it
//   node browser.mjs [--shots DIR [--sheets]] KEYLAB ROOT      renders the tests' own stores first (needs sqlite3)
//
// CHROMIUM names the browser (/usr/bin/chromium when absent). Prints a line for each check that fails and ends with
// "N passed, N failed"; exit 0 when none failed, 1 when one did, 77 when there is no browser to look with
// (1 with KEYLAB_MUST_RUN in the environment).

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

function skip(why) {
	console.log(`1..0 # SKIP ${why}`);
	console.log(`0 passed, 0 failed (skipped: ${why})`);
	process.exit(process.env.KEYLAB_MUST_RUN ? 1 : 77);
}

function parse_arguments(argv) {
	const options = { shots: process.env.KEYLAB_SHOTS ?? "", sheets: false, rest: [] };
	for (let i = 0; i < argv.length; i++) {
		if (argv[i] === "--shots")
			options.shots = argv[++i] ?? "";
		else if (argv[i] === "--sheets")
			options.sheets = true;
		else
			options.rest.push(argv[i]);
	}
	return options;
}

// A store made of SQL text, rendered by the program itself.
function render_store(keylab, root, folder, name, sql, runs) {
	const store = join(folder, `${name}.db`);
	const migrations = join(root, "sql/store/migrate");
	const files = readdirSync(migrations).filter((file) => file.endsWith(".sql")).sort();
	const script = files.map((file) => readFileSync(join(migrations, file), "utf8"));
	script.push(readFileSync(join(root, sql), "utf8"));
	// The marks by which keylab knows its own file (harness/store/store.c).
	script.push(`pragma user_version = ${files.length}; pragma application_id = ${0x6b6c6162};`);
	execFileSync("sqlite3", ["-bail", store], { input: script.join("\n") });
	const page = join(folder, `${name}.html`);
	execFileSync(keylab, ["report", "--db", store, ...runs, "--out", page], { stdio: ["ignore", "ignore", "inherit"] });
	return page;
}

// The golden test's store, with all that can be on a page; and all claims of the documents, whose length is the real one.
function render_own(keylab, root, folder) {
	return [
		render_store(keylab, root, folder, "fixture", "harness/tests/golden/report/fixture.sql", ["--run", "2,1"]),
		render_store(keylab, root, folder, "evidence", "docs/evidence.sql", []),
	];
}

let passed = 0;
let failed = 0;
function check(what, faults) {
	if (faults.length === 0) {
		passed++;
		return;
	}
	failed++;
	console.log(`not ok: ${what}`);
	for (const fault of faults.slice(0, 10))
		console.log(`    ${fault}`);
	if (faults.length > 10)
		console.log(`    and ${faults.length - 10} more`);
}

const views = [
	{ name: "light", width: 1100, height: 900, scheme: "light" },
	{ name: "dark", width: 1100, height: 900, scheme: "dark" },
	{ name: "narrow", width: 320, height: 640, scheme: "light" },
	{ name: "narrow-dark", width: 320, height: 640, scheme: "dark" },
	{ name: "print", width: 794, height: 1123, scheme: "dark", print: true },
];

// ---- what runs in the page ----

// What sticks out of the window, or out of a box that does not scroll.
function find_overflow() {
	const faults = [];
	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width)
		faults.push(`the page is ${document.documentElement.scrollWidth} px wide in ${width}`);
	const scrolls = (element) => {
		for (let at = element; at; at = at.parentElement)
			if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX))
				return true;
		return false;
	};
	for (const element of document.body.querySelectorAll("*")) {
		const box = element.getBoundingClientRect();
		if (box.width > 0 && (box.right > width + 1 || box.left < -1) &&
			!element.closest(".skip") && !element.closest("thead") && !element.closest("svg") && !scrolls(element))
			faults.push(`<${element.localName} class="${element.className}"> reaches from ${box.left} to ${box.right}`);
	}
	return faults;
}

// Texts of one picture that lie over each other, or are cut by its edge.
function find_text_collisions() {
	const faults = [];
	for (const svg of document.querySelectorAll("svg.chart")) {
		const frame = svg.getBoundingClientRect();
		if (frame.width === 0)
			continue;
		const texts = [...svg.querySelectorAll("text")].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
		const title = svg.querySelector("title").textContent;
		for (const { text, box } of texts)
			if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
				faults.push(`"${text}" sticks out of "${title}"`);
		for (let i = 0; i < texts.length; i++)
			for (let k = i + 1; k < texts.length; k++) {
				const a = texts[i].box;
				const b = texts[k].box;
				// A box is a line high; letters fill about two thirds of it.
				const slack = Math.min(a.height, b.height) * 0.25;
				if (a.left < b.right && b.left < a.right && a.top + slack < b.bottom - slack && b.top + slack < a.bottom - slack)
					faults.push(`"${texts[i].text}" lies over "${texts[k].text}" in "${title}"`);
			}
	}
	return faults;
}

function find_dead_links() {
	const faults = [];
	for (const link of document.querySelectorAll("a[href^='#']"))
		if (!document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1))))
			faults.push(`${link.getAttribute("href")} leads nowhere`);
	return faults;
}

// What the page promises of its pictures: 60 kB each at most, no series of more than 500 points.
function find_heavy_pictures() {
	const faults = [];
	for (const svg of document.querySelectorAll("svg")) {
		const title = svg.querySelector("title")?.textContent;
		const bytes = new TextEncoder().encode(svg.outerHTML).length;
		if (bytes > 60 * 1024)
			faults.push(`${bytes} bytes: "${title}"`);
		for (const path of svg.querySelectorAll("path, polygon")) {
			// A filled path is a series' marks, each a figure of its own; a stroked one a line through its points.
			const data = path.getAttribute("d") ?? path.getAttribute("points") ?? "";
			const points = path.hasAttribute("stroke") ? data.split(/[ML]/).length - 1 : data.split("M").length - 1;
			if (points > 500)
				faults.push(`${points} points in one path of "${title}"`);
			if (/nan|inf/i.test(data))
				faults.push(`a place that is no number in "${title}"`);
		}
		if (!svg.querySelector("path, polygon"))
			faults.push(`nothing is drawn in "${title}"`);
	}
	return faults;
}

// A card stands alone for whoever comes by a link: where it leads to, what it is made of.
function find_incomplete_cards() {
	const faults = [];
	for (const card of document.querySelectorAll("article.card")) {
		const wants = {
			"its verdict": ".verdict", "its sentence": "h4", "what holds": ".facts", "its SQL": "details pre code",
			"its row": "code.row", "its scenario's conditions": ".rerun a[href^='#scenario-']", "how to run it again": ".rerun code",
		};
		for (const [what, selector] of Object.entries(wants))
			if (!card.querySelector(selector))
				faults.push(`${card.id} lacks ${what}`);
	}
	for (const figure of document.querySelectorAll("figure[id]"))
		if (figure.id !== "figure-1" && !figure.querySelector("details.sql code"))
			faults.push(`${figure.id} lacks its SQL`);
	return faults;
}

function find_active_content() {
	const faults = [];
	const ids = new Set();
	for (const element of document.querySelectorAll("*")) {
		if (["script", "iframe", "object", "embed", "img", "form", "base"].includes(element.localName))
			faults.push(`<${element.localName}>`);
		for (const { name, value } of element.attributes) {
			if (name.startsWith("on") || name === "style" || /^\s*javascript:/i.test(value))
				faults.push(`<${element.localName} ${name}>`);
			if (name === "id") {
				if (ids.has(value))
					faults.push(`id ${value} twice`);
				ids.add(value);
			}
		}
	}
	return faults;
}

// ---- the looking ----

// A picture of the whole page, in sheets: one of a long page is larger than the browser draws.
async function shoot_sheets(page, width, path) {
	const sheet = 3000;
	await page.setViewportSize({ width, height: sheet });
	const height = await page.evaluate(() => document.documentElement.scrollHeight);
	for (let y = 0, number = 1; y < height; y += sheet, number++) {
		await page.evaluate((top) => scrollTo(0, top), y);
		await page.screenshot({ path: `${path}-${String(number).padStart(2, "0")}.png` });
	}
}

async function look(browser, axe_source, page_path, view, { shots, sheets }) {
	const context = await browser.newContext({
		viewport: { width: view.width, height: view.height },
		colorScheme: view.scheme,
		// The page refuses scripts by its own policy; axe-core has to run all the same.
		bypassCSP: true,
	});
	const page = await context.newPage();
	const noise = [];
	const fetched = [];
	const url = pathToFileURL(page_path).href;
	page.on("console", (message) => noise.push(`${message.type()}: ${message.text()}`));
	page.on("pageerror", (error) => noise.push(String(error)));
	page.on("request", (request) => {
		if (request.url().split("#")[0] !== url)
			fetched.push(request.url());
	});
	await page.goto(url, { waitUntil: "load" });
	if (view.print)
		await page.emulateMedia({ media: "print", colorScheme: "light" });

	const where = `${basename(page_path)}, ${view.name}`;
	check(`${where}: overflow`, await page.evaluate(find_overflow));
	check(`${where}: texts of the pictures`, await page.evaluate(find_text_collisions));
	check(`${where}: links`, await page.evaluate(find_dead_links));
	check(`${where}: active content`, await page.evaluate(find_active_content));
	check(`${where}: pictures`, await page.evaluate(find_heavy_pictures));
	check(`${where}: cards`, await page.evaluate(find_incomplete_cards));
	if (!view.print) {
		await page.evaluate(axe_source);
		const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
		check(`${where}: axe-core`, found.violations.flatMap((violation) =>
			violation.nodes.map((node) => `${violation.id}: ${node.target.join(" ")}: ${node.failureSummary?.split("\n").pop()?.trim()}`)));
	}
	if (shots) {
		const name = `${basename(page_path, ".html")}-${view.name}`;
		if (view.print)
			await page.pdf({ path: join(shots, `${name}.pdf`), format: "A4", preferCSSPageSize: true });
		await page.screenshot({ path: join(shots, `${name}-top.png`) });
		if (sheets)
			await shoot_sheets(page, view.width, join(shots, name));
	}
	check(`${where}: console`, noise);
	check(`${where}: requests`, fetched);
	await context.close();
}

// Where links lead, in the page: each can be focused, and its target comes into sight.
function follow_all() {
	const faults = [];
	const followed = new Set();
	for (const link of document.querySelectorAll("a[href^='#']")) {
		const href = link.getAttribute("href");
		if (!link.checkVisibility())
			continue;
		link.focus({ preventScroll: true });
		if (document.activeElement !== link)
			faults.push(`${href} takes no focus`);
		if (followed.has(href))
			continue;
		followed.add(href);
		location.hash = href;
		const box = document.getElementById(href.slice(1))?.getBoundingClientRect();
		const end = Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight - 1;
		if (!box || !((box.top >= -1 && box.top < innerHeight) || end))
			faults.push(href);
	}
	return faults;
}

// The first links with the keyboard's means, Tab and Enter; of a long page the rest by their targets alone.
async function follow_links(browser, page_path) {
	const page = await browser.newPage();
	const faults = [];
	await page.goto(pathToFileURL(page_path).href);
	await page.keyboard.press("Tab");
	const first = await page.evaluate(() => document.activeElement?.getAttribute("class"));
	check(`${basename(page_path)}: the first stop of the Tab key is the skip link`, first === "skip" ? [] : [String(first)]);
	for (let i = 0; i < 20; i++) {
		const href = await page.evaluate((index) => {
			const link = document.querySelectorAll("a[href^='#']")[index];
			link?.focus();
			return link?.getAttribute("href");
		}, i);
		if (!href)
			break;
		await page.keyboard.press("Enter");
		if (await page.evaluate(() => location.hash) !== href)
			faults.push(`${href} does not open with Enter`);
	}
	faults.push(...await page.evaluate(follow_all));
	check(`${basename(page_path)}: links land in sight`, faults);
	await page.close();
}

const options = parse_arguments(process.argv.slice(2));
const executable = process.env.CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executable))
	skip(`no browser at ${executable}; name one with CHROMIUM`);
let chromium, axe_source;
try {
	({ chromium } = require("playwright-core"));
	axe_source = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
} catch {
	skip("playwright-core and axe-core are not installed (npm ci --ignore-scripts in report/test)");
}

const folder = mkdtempSync(join(tmpdir(), "keylab-browser-"));
let status = 0;
try {
	let pages = options.rest.map((name) => resolve(name));
	if (pages.length === 2 && statSync(pages[1]).isDirectory())
		pages = render_own(pages[0], pages[1], folder);
	if (pages.length === 0)
		throw new Error("no page is named");
	if (options.shots)
		mkdirSync(options.shots, { recursive: true });
	const browser = await chromium.launch({
		executablePath: executable,
		args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync"],
	});
	try {
		for (const page of pages) {
			for (const view of views)
				await look(browser, axe_source, page, view, options);
			await follow_links(browser, page);
		}
	} finally {
		await browser.close();
	}
	status = failed ? 1 : 0;
} finally {
	rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(status);
