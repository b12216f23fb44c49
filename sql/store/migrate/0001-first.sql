-- The store's first shape. Runs once, in one transaction, on an empty database.
-- Tables are keylab's own and may change with a migration; the views are the public face (stable columns).

create table run (
	run_id integer primary key,
	started_us integer not null,            -- microseconds since 1970, UTC
	finished_us integer,                    -- null while it runs, or when it was killed
	status text not null default 'running'
		check (status in ('running', 'finished', 'interrupted', 'failed')),
	profile text not null,
	seed integer not null,
	argv text not null,                     -- JSON array
	keylab_version text not null,
	keylab_commit text not null default '', -- empty when it was not built from a git checkout
	pid integer not null,                   -- of the process that runs it
	pid_started text not null,              -- tells that process from a later one with the same pid
	wall_ns integer,
	server_ns integer not null default 0    -- time spent waiting for servers
) strict;

create table environment (
	run_id integer not null references run on delete cascade,
	name text not null,
	value text not null,
	primary key (run_id, name)
) strict, without rowid;

create table scenario (
	run_id integer not null references run on delete cascade,
	scenario text not null,
	document text not null,
	position integer not null,              -- order in the run
	title text not null,
	source text not null default '',
	about text not null,
	limits text not null,                   -- JSON array of sentences
	path text not null,                     -- as named, below the project where it lies there
	sha256 text not null,                   -- of the file with its includes
	text text not null,
	status text not null default 'not_run'
		check (status in ('not_run', 'running', 'done', 'error', 'interrupted')),
	reason text not null default '',        -- why it did not run or end
	samples_sha256 text,                    -- of all its samples, once it ended
	started_us integer,
	finished_us integer,
	primary key (run_id, scenario)
) strict, without rowid;

create table param (
	run_id integer not null,
	scenario text not null,
	name text not null,
	value text not null,
	origin text not null check (origin in ('profile', 'set')),
	primary key (run_id, scenario, name),
	foreign key (run_id, scenario) references scenario on delete cascade
) strict, without rowid;

create table arm (
	run_id integer not null,
	scenario text not null,
	arm text not null,
	position integer not null,
	label text not null,
	texts text not null,                    -- JSON object
	primary key (run_id, scenario, arm),
	foreign key (run_id, scenario) references scenario on delete cascade
) strict, without rowid;

create table cluster (
	cluster_id integer primary key,
	run_id integer not null references run on delete cascade,
	scenario text not null,                 -- the first one that used it
	version_num integer not null,           -- 180004
	version text not null,                  -- version()
	server_sha256 text not null,            -- of the postgres binary
	bin_dir text not null,
	initdb_options text not null,           -- JSON array
	started_us integer not null
) strict;
create index cluster_by_run on cluster (run_id);

create table setting (
	cluster_id integer not null references cluster on delete cascade,
	name text not null,
	value text not null,
	unit text not null default '',
	source text not null,
	is_default integer not null check (is_default in (0, 1)),
	primary key (cluster_id, name)
) strict, without rowid;

create table step (
	step_id integer primary key,
	run_id integer not null,
	scenario text not null,
	cluster_id integer references cluster,
	verb text not null,
	name text not null default '',
	session text not null default '',
	arm text not null default '',
	rep integer not null default 0,
	labels text not null default '{}',      -- JSON object: the other loops' variables
	position text not null,                 -- file:line:column
	sql text not null default '',           -- as sent
	started_us integer not null,
	duration_ns integer not null,
	outcome text not null check (outcome in ('ok', 'expected', 'error', 'blocked', 'cut off')),
	sqlstate text not null default '',
	message text not null default '',
	foreign key (run_id, scenario) references scenario on delete cascade
) strict;
create index step_by_run on step (run_id, scenario);

create table sample (
	sample_id integer primary key,
	step_id integer not null references step on delete cascade,
	metric text not null,
	unit text not null,
	metric_type text not null check (metric_type in ('exact', 'counter', 'timing', 'event')),
	value any,                              -- a number; a text where the metric is one
	rep integer,                            -- of a probe of several rows; null: the step's
	labels text not null default '{}'       -- JSON object: the step's and the meter's own
) strict;
create index sample_by_step on sample (step_id);

create table claim (
	run_id integer not null,
	scenario text not null,
	claim text not null,
	position integer not null,
	sentence text not null,
	source text not null default '',
	published text not null default '',
	published_value real,                   -- in the unit of the value
	unit text not null default '',
	metric_type text not null check (metric_type in ('exact', 'counter', 'timing', 'event')),
	predicate text not null,
	sql text not null,                      -- the whole statement; runs in any SQLite shell
	control integer not null default 0 check (control in (0, 1)),
	in_scope integer not null default 1 check (in_scope in (0, 1)),
	scope text not null default '',         -- why it is out of scope at this profile
	expected text not null default 'HOLDS'
		check (expected in ('HOLDS', 'REFUTED', 'INCONCLUSIVE', 'NOT_RUN', 'ERROR')),
	because text not null default '',
	-- derived from the samples, by the run and again by verify
	verdict text not null default 'NOT_RUN'
		check (verdict in ('HOLDS', 'REFUTED', 'INCONCLUSIVE', 'NOT_RUN', 'ERROR')),
	reason text not null default '',
	value any,
	value_low any,
	value_high any,
	n integer not null default 0,
	primary key (run_id, scenario, claim),
	foreign key (run_id, scenario) references scenario on delete cascade
) strict, without rowid;

create table chart (
	run_id integer not null,
	scenario text not null,
	chart text not null,
	position integer not null,
	kind text not null,
	title text not null,                    -- SQL when it starts with select or with
	data text not null,                     -- the whole statement
	x_label text not null,
	x_unit text not null default '',
	x_log integer not null default 0,
	y_label text not null,
	y_unit text not null default '',
	y_log integer not null default 0,
	claims text not null default '[]',      -- JSON array of claim ids
	primary key (run_id, scenario, chart),
	foreign key (run_id, scenario) references scenario on delete cascade
) strict, without rowid;

create table incident (
	incident_id integer primary key,
	run_id integer not null references run on delete cascade,
	scenario text not null default '',
	step_id integer references step,
	at_us integer not null,
	kind text not null,                     -- blocked, server log, notice, warning
	text text not null
) strict;
create index incident_by_run on incident (run_id);

create view runs as
select run_id,
	strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') as started_at,
	strftime('%Y-%m-%dT%H:%M:%fZ', finished_us / 1e6, 'unixepoch') as finished_at,
	status, profile, wall_ns / 1e9 as wall_s, server_ns / 1e9 as server_s,
	seed, argv, keylab_version, keylab_commit
from run;

create view clusters as
select cluster_id, run_id, scenario, version_num, version, server_sha256, bin_dir, initdb_options,
	strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1e6, 'unixepoch') as started_at
from cluster;

create view settings as
select c.run_id, c.cluster_id, c.scenario, s.name, s.value, s.unit, s.source, s.is_default
from setting s join cluster c using (cluster_id);

create view steps as
select st.step_id, st.run_id, sc.document, st.scenario, st.verb, st.name as step, st.session, st.arm, st.rep, st.labels,
	st.position, st.sql, strftime('%Y-%m-%dT%H:%M:%fZ', st.started_us / 1e6, 'unixepoch') as started_at,
	st.duration_ns / 1e9 as duration_s, st.outcome, st.sqlstate, st.message
from step st join scenario sc using (run_id, scenario);

create view samples as
select sa.sample_id, st.run_id, sc.document, st.scenario, st.arm, st.name as step, coalesce(sa.rep, st.rep) as rep, sa.metric, sa.unit,
	sa.metric_type, sa.value, sa.labels,
	strftime('%Y-%m-%dT%H:%M:%fZ', st.started_us / 1e6, 'unixepoch') as at, st.step_id
from sample sa join step st using (step_id) join scenario sc using (run_id, scenario);

create view claims as
select c.run_id, s.document, c.scenario, c.claim, c.sentence, c.published, c.value, c.unit, c.predicate, c.metric_type,
	c.verdict, c.sql, c.value_low, c.value_high, c.n, c.expected, c.because, c.control, c.in_scope, c.scope, c.reason,
	c.source, c.published_value
from claim c join scenario s using (run_id, scenario)
order by c.run_id, s.position, c.position;
