-- A store for the report's tests: two runs, three scenarios, every verdict, every kind of chart, and texts that
-- try to be markup. Runs after the migrations. The figures are made up by the formulas below; they only have
-- to be as large as real ones.

insert into run (run_id, started_us, finished_us, status, profile, seed, argv, keylab_version, keylab_commit, pid,
	pid_started, wall_ns, server_ns)
values
	(1, 1791201600000000, 1791201660000000, 'finished', 'chapter', 42,
		'["keylab","run","--profile","chapter","--db","/home/alice/lab/keylab.db"]', '0.1.0',
		'0123456789abcdef0123456789abcdef01234567', 100, 'a', 60000000000, 55000000000),
	(2, 1791288000000000, 1791288071500000, 'finished', 'chapter', 42,
		'["keylab","run","--profile","chapter","--db","/home/alice/lab/keylab.db"]', '0.1.0',
		'0123456789abcdef0123456789abcdef01234567', 200, 'b', 71500000000, 68250000000);

insert into environment (run_id, name, value)
select r.run_id, e.name, e.value
from run r, (
	select 'cpu' as name, 'Example CPU @ 2.0 GHz' as value union all
	select 'cores', '2' union all
	select 'memory', '8 GB' union all
	select 'kernel', 'Linux 6.1.0' union all
	select 'hostname', 'secret-host' union all
	select 'filesystem', 'ext4, rw,relatime, "quoted" <mount> & more' union all
	select 'gnuplot', 'gnuplot 5.4'
) e;
update environment set value = 'Another CPU @ 3.0 GHz' where run_id = 1 and name = 'cpu';

insert into scenario (run_id, scenario, document, position, title, source, about, limits, path, sha256, text, status,
	reason, samples_sha256, started_us, finished_us)
select r.run_id, s.scenario, s.document, s.position, s.title, s.source, s.about, s.limits, s.path,
	substr('00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff', s.position + 1) || substr('0000', 1, s.position),
	'scenario: ' || s.scenario, s.status, s.reason,
	substr('ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100', s.position + 1) || substr('0000', 1, s.position),
	r.started_us, r.finished_us
from run r, (
	select 'wal-checkpoints' as scenario, 'keys' as document, 0 as position,
		'Random keys write several times the WAL when checkpoints come between' as title,
		'Pick your keys once, the cost of random keys' as source,
		'Three tables with one row of `(id, n)` each million; ten rounds with a checkpoint before each. It leaves out updates and concurrent writers.' as about,
		'["One insert statement of many rows in one session.","Rows are two columns wide and the table has one index."]' as limits,
		'scenarios/keys/wal-checkpoints.yaml' as path, 'done' as status, '' as reason
	union all
	select 'sequences', 'keys', 1, 'Sequences leave gaps, and a crash leaves a larger one', 'Pick your keys once, sequences',
		'Sessions A, B and P take values in turn; the server is killed in between.',
		'["One server, one client; no replica."]', 'scenarios/keys/sequences.yaml', 'done', ''
	union all
	select 'hostile', 'ours', 2, 'A title with <script>alert("x")</script> & ''quotes''', '',
		'Text that tries to be <b>markup</b>: "><img src=x onerror=alert(1)>, an escape ' || char(27) || '[31mred' || char(27)
			|| '[0m, a null-ish ' || char(1) || ', a turn ' || char(8238) || 'tfel, ]]> and -->.',
		'["A limit with </ul></section> in it."]', '/home/alice/lab/hostile.yaml', 'error',
		'ERROR: relation "<script>alert(''r'')</script>" does not exist'
) s;

insert into param (run_id, scenario, name, value, origin)
select run_id, scenario, 'rows', '1M', 'profile' from scenario where scenario = 'wal-checkpoints'
union all
select run_id, scenario, 'rounds', '10', 'profile' from scenario where scenario = 'wal-checkpoints'
union all
select run_id, scenario, 'word', 'two words & a ''quote''', 'set' from scenario where scenario = 'hostile';

insert into arm (run_id, scenario, arm, position, label, texts)
select s.run_id, s.scenario, a.arm, a.position, a.label, '{}'
from scenario s, (
	select 'bigint' as arm, 0 as position, 'bigint identity' as label union all
	select 'uuidv4', 1, 'UUIDv4' union all
	select 'uuidv7', 2, 'UUIDv7'
) a
where s.scenario = 'wal-checkpoints'
union all
select s.run_id, s.scenario, a.arm, a.position, a.label, '{}'
from scenario s, (
	select 'ulid' as arm, 0 as position, 'ULID' as label union all
	select 'ksuid', 1, 'KSUID' union all
	select 'snowflake', 2, 'Snowflake' union all
	select 'x"><svg onload=alert(1)>', 3, 'an arm <with> "markup" & a label that is far too long for a chart'
) a
where s.scenario = 'hostile';

insert into cluster (cluster_id, run_id, scenario, version_num, version, server_sha256, bin_dir, initdb_options, started_us)
values
	(1, 1, 'wal-checkpoints', 170006, 'PostgreSQL 17.6 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
		'aa00000000000000000000000000000000000000000000000000000000000000', '/home/alice/pg17/bin',
		'["--no-locale","--encoding=UTF8"]', 1791201600000000),
	(2, 2, 'wal-checkpoints', 180004, 'PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
		'bb00000000000000000000000000000000000000000000000000000000000000', '/home/alice/pg18/bin',
		'["--no-locale","--encoding=UTF8"]', 1791288000000000),
	(3, 2, 'sequences', 180004, 'PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
		'bb00000000000000000000000000000000000000000000000000000000000000', '/home/alice/pg18/bin',
		'["--no-locale","--encoding=UTF8"]', 1791288040000000);

insert into setting (cluster_id, name, value, unit, source, is_default)
select c.cluster_id, s.name, s.value, s.unit, 'configuration file', s.is_default
from cluster c, (
	select 'fsync' as name, 'on' as value, '' as unit, 1 as is_default union all
	select 'checkpoint_timeout', '3600', 's', 0 union all
	select 'max_wal_size', '16384', 'MB', 0 union all
	select 'dynamic_shared_memory_type', 'mmap', '', 0 union all
	select 'data_directory', '/home/alice/lab/data', '', 0
) s;
insert into setting (cluster_id, name, value, unit, source, is_default)
values (3, 'log_min_messages', '<debug> "1"', '', 'configuration file', 0);

-- ---- steps and samples ----

insert into step (step_id, run_id, scenario, cluster_id, verb, name, session, arm, rep, position, sql, started_us,
	duration_ns, outcome)
with recursive round(rep) as (select 1 union all select rep + 1 from round where rep < 10)
select s.run_id * 1000 + a.position * 100 + r.rep, s.run_id, s.scenario, s.run_id, 'measure', 'churn', 'main', a.arm, r.rep,
	'scenarios/keys/wal-checkpoints.yaml:31:7',
	'insert into t_' || a.arm || ' (n) select g from generate_series(1, 100000) g where g < 100001 and ''<b>'' <> ''&''',
	1791201600000000 + r.rep * 1000000, 300000000, 'ok'
from scenario s join arm a using (run_id, scenario), round r
where s.scenario = 'wal-checkpoints';

insert into sample (step_id, metric, unit, metric_type, value)
select st.step_id, 'wal_bytes', 'bytes', 'counter',
	cast(case st.arm when 'bigint' then 13631488 + 40 * st.rep when 'uuidv7' then 14994636 + 55 * st.rep
		else 66000000 - 40000000 / (st.rep + 0.2) end as integer) + st.run_id * 1000
from step st
where st.name = 'churn';
insert into sample (step_id, metric, unit, metric_type, value)
select st.step_id, 'wal_fpi', 'count', 'counter', case st.arm when 'uuidv4' then 1900 + 290 * st.rep else 3 + st.rep % 2 end
from step st
where st.name = 'churn';

insert into step (step_id, run_id, scenario, cluster_id, verb, name, session, position, sql, started_us, duration_ns, outcome,
	sqlstate, message)
values
	(5001, 2, 'sequences', 3, 'prove', 'gap-rollback', 'A', 'scenarios/keys/sequences.yaml:20:7',
		'select nextval(''s'')', 1791288041000000, 1000000, 'ok', '', ''),
	(5002, 2, 'hostile', 2, 'sql', 'boom', 'main', '/home/alice/lab/hostile.yaml:9:3',
		'select * from "<script>alert(''r'')</script>"', 1791288060000000, 1000000, 'error', '42P01',
		'relation "<script>alert(''r'')</script>" does not exist at ' || char(27) || '[1m character 15');

insert into incident (run_id, scenario, step_id, at_us, kind, text)
values
	(2, 'sequences', null, 1791288050000000, 'server log',
		'LOG:  server process (PID 4711) was terminated by signal 9: Killed' || char(10) ||
		'LOG:  terminating any other active server processes <because> "of" it'),
	(2, '', null, 1791288000500000, 'warning', 'CPU frequency scaling is on; timings are noisier than they need be.');

-- ---- claims ----

insert into claim (run_id, scenario, claim, position, sentence, source, published, published_value, unit, metric_type,
	predicate, sql, control, in_scope, scope, expected, because, verdict, reason, value, value_low, value_high, n)
select r.run_id, c.scenario, c.claim, c.position, c.sentence, c.source, c.published, c.published_value, c.unit, c.metric_type,
	c.predicate,
	'with sample as (select arm, step, rep, metric, unit, value, labels, at from samples where run_id = ' || r.run_id ||
		' and scenario = ''' || c.scenario || ''')' || char(10) || c.sql,
	c.control, c.in_scope, c.scope, c.expected, c.because, c.verdict, c.reason, c.value, c.low, c.high, c.n
from run r, (
	select 'wal-checkpoints' as scenario, 'wal-bigint' as claim, 0 as position,
		'Ten rounds with a checkpoint before each write 130 MB of WAL for a million rows with a bigint identity key.' as sentence,
		'' as source, '130 MB' as published, 136314880.0 as published_value, 'bytes' as unit, 'counter' as metric_type,
		'within 1% of published' as predicate,
		'select sum(value) from sample where step = ''churn'' and arm = ''bigint'' and metric = ''wal_bytes''' as sql,
		0 as control, 1 as in_scope, '' as scope, 'HOLDS' as expected, '' as because, 'HOLDS' as verdict, '' as reason,
		136317080 as value, 136317080 as low, 136317080 as high, 1 as n
	union all
	select 'wal-checkpoints', 'wal-v7', 1, 'The same rounds write 143 MB of WAL with UUIDv7 keys.', 'table 2, second row',
		'143 MB', 149946368.0, 'bytes', 'counter', 'within 1% of published',
		'select sum(value) from sample where step = ''churn'' and arm = ''uuidv7'' and metric = ''wal_bytes''',
		0, 1, '', 'HOLDS', '', 'HOLDS', '', 149949385, 149949385, 149949385, 1
	union all
	select 'wal-checkpoints', 'wal-v4', 2, 'The same rounds write 551 MB of WAL with UUIDv4 keys.', '',
		'551 MB', 577765376.0, 'bytes', 'counter', 'within 1% of published',
		'select sum(value) from sample where step = ''churn'' and arm = ''uuidv4'' and metric = ''wal_bytes''',
		0, 1, '', 'HOLDS', '', 'REFUTED', 'the whole range lies more than 1 % from the published figure', 592842711, 590842711, 594842711, 3
	union all
	select 'wal-checkpoints', 'wal-v4-over-v7', 3,
		'Random UUIDs write more than three times the WAL of UUIDv7 when checkpoints come between the inserts.', '',
		'3.8', 3.8, 'ratio', 'counter', '> 3',
		'select sum(value) filter (where arm = ''uuidv4'') / sum(value) filter (where arm = ''uuidv7'')' || char(10) ||
			'from (select arm, value * 1.0 as value from sample where step = ''churn'' and metric = ''wal_bytes'')',
		0, 1, '', 'HOLDS', '', 'HOLDS', '', 3.953618, 3.91, 3.99, 3
	union all
	select 'wal-checkpoints', 'fpi-sequential', 4, 'In-order keys log about four full-page images a round.', '',
		'about 4', 4.0, 'images', 'counter', '< 50',
		'select max(value) from sample where step = ''churn'' and arm <> ''uuidv4'' and metric = ''wal_fpi''',
		0, 1, '', 'HOLDS', '', 'HOLDS', '', 4, 3, 4, 20
	union all
	select 'wal-checkpoints', 'density-random', 5, 'The leaves of random UUIDs are about 70 % full.', '',
		'about 70', 70.0, 'percent', 'counter', 'between 60 and 78',
		'select value from sample where step = ''after-load'' and metric = ''leaf_density_percent''',
		0, 1, '', 'HOLDS', '', 'INCONCLUSIVE', 'the range 59.1 to 71.3 lies on both sides of 60', 68.2, 59.1, 71.3, 6
	union all
	select 'wal-checkpoints', 'zero-lost', 6, 'No row is lost.', '', '0', 0.0, 'rows', 'exact', '= 0',
		'select 0', 0, 1, '', 'HOLDS', '', 'HOLDS', '', 0, 0, 0, 1
	union all
	select 'wal-checkpoints', 'wal-busy', 7, 'With other sessions writing, random keys write 590 to 630 MB.', '',
		'590–630 MB', null, 'bytes', 'counter', '> 578000000', 'select null', 0, 0,
		'The published size belongs to the large profile.', 'HOLDS', '', 'NOT_RUN', '', null, null, null, 0
	union all
	select 'sequences', 'gap-rollback', 0, 'A value taken by a transaction that is rolled back is not given out again.', 'section 3',
		'3', 3.0, '', 'exact', '= 3', '', 0, 1, '', 'HOLDS', '', 'HOLDS', '', 3, 3, 3, 1
	union all
	select 'sequences', 'cache-order', 1, 'With a cache of 20, two sessions in turn get 1, 21, 2, 22, 3, 23.', '',
		'1, 21, 2, 22, 3, 23', null, 'list', 'exact', '= 1, 21, 2, 22, 3, 23',
		'select group_concat(value, '', '') from sample where metric = ''id''', 0, 1, '', 'HOLDS', '', 'HOLDS', '',
		'1, 21, 2, 22, 3, 23', '1, 21, 2, 22, 3, 23', '1, 21, 2, 22, 3, 23', 1
	union all
	select 'sequences', 'naive-overlap', 2, 'A select followed by an update hands out the same number twice.', '',
		'1,204', 1204.0, 'overlaps', 'event', '= 0', 'select count(*) from sample', 1, 1, '', 'REFUTED',
		'the naive way must fail, or the measurement is blind', 'REFUTED', '', 1187, 1187, 1187, 1
	union all
	select 'sequences', 'crash-gap', 3, 'After kill -9 of the server no value is handed out again.', '', '', null, '', 'event',
		'is true', 'select 1', 0, 1, '', 'HOLDS', '', 'NOT_RUN', 'the server did not come back within 30 s', null, null, null, 0
	union all
	select 'sequences', 'no-repeat', 5, 'In 200 crashes no value is handed out twice.', '', '', null, 'values', 'event', '= 0',
		'select 0', 0, 1, '', 'HOLDS', '', 'HOLDS', '', 0, 0, 0, 200
	union all
	select 'sequences', 'holds-against', 4, 'A sentence that today''s server was expected to refute.', '', '', null, 'ratio', 'counter',
		'> 1', 'select 2', 0, 1, '', 'REFUTED', 'since version 17 the planner does otherwise', 'HOLDS', '', 2, 2, 2, 1
	union all
	select 'hostile', 'x"><script>alert(1)</script>', 0, 'A sentence with <script>alert("x")</script>, `code <b>`, & and ' || char(27) || '[31m.',
		'"source" <i>', '<b>551</b> MB', null, 'percent"><i>', 'exact', '= a<b', 'select ''</code></pre><script>alert(2)</script>'';', 0, 1, '',
		'HOLDS', '', 'ERROR', 'repetitions differ: "<a>" & "<b>"', '<img src=x onerror=alert(3)>', null, null, 2
	union all
	select 'hostile', 'x   script alert 1   script ', 1,
		'Averylongwordwithoutanyspaceinitthatgoesonandonandonandonandonandonandonandonandonandonandonandonandonandonandon.', '',
		'', null, '', 'timing', '< 60s', 'select 1', 0, 1, '', 'HOLDS', '', 'HOLDS', '', 12345678.9, 12000000.5, 13000000.25, 10
) c;
-- Where there are samples, the values are theirs.
update claim as c
set (value, value_low, value_high) = (
	select sum(s.value), sum(s.value), sum(s.value) from samples s
	where s.run_id = c.run_id and s.metric = 'wal_bytes'
		and s.arm = case c.claim when 'wal-bigint' then 'bigint' when 'wal-v7' then 'uuidv7' else 'uuidv4' end)
where claim in ('wal-bigint', 'wal-v7', 'wal-v4');
update claim set value_low = value - 2000000, value_high = value + 2000000 where claim = 'wal-v4';
update claim set value = value * 1.001 where run_id = 1 and typeof(value) = 'real';
update claim set value = 4 where run_id = 1 and claim = 'gap-rollback';

-- ---- charts ----

insert into chart (run_id, scenario, chart, position, kind, title, data, x_label, x_unit, x_log, y_label, y_unit, y_log, claims)
select r.run_id, c.scenario, c.chart, c.position, c.kind, c.title, c.data, c.x_label, c.x_unit, c.x_log, c.y_label, c.y_unit,
	c.y_log, c.claims
from run r, (
	select 'wal-checkpoints' as scenario, 'wal-by-round' as chart, 0 as position, 'lines' as kind,
		'select printf(''In round 10 random keys write %.1f times the WAL of UUIDv7, in round 1 %.1f times'',
	max(value) filter (where arm = ''uuidv4'' and rep = 10) * 1.0 / max(value) filter (where arm = ''uuidv7'' and rep = 10),
	max(value) filter (where arm = ''uuidv4'' and rep = 1) * 1.0 / max(value) filter (where arm = ''uuidv7'' and rep = 1))
from samples where run_id = 2 and step = ''churn'' and metric = ''wal_bytes''' as title,
		'select arm as series, rep as x, value / 1048576.0 as y from samples where run_id = 2 and step = ''churn''
	and metric = ''wal_bytes'' order by series, x' as data,
		'round (a checkpoint before each)' as x_label, '' as x_unit, 0 as x_log, 'WAL of the round' as y_label, 'MB' as y_unit,
		0 as y_log, '["wal-bigint","wal-v7","wal-v4","wal-v4-over-v7"]' as claims
	union all
	select 'wal-checkpoints', 'images-by-round', 1, 'lines', 'Random keys log thousands of page images a round, keys in order a handful',
		'select arm as series, rep as x, value as y from samples where run_id = 2 and metric = ''wal_fpi'' order by series, x',
		'round (a checkpoint before each)', '', 0, 'full-page images of the round', 'images', 1, '["fpi-sequential"]'
	union all
	select 'wal-checkpoints', 'wal-per-row', 2, 'dots', 'Fewer rows between checkpoints cost random keys more WAL a row',
		'select ''bigint'' as series, 100000 as x, 136 as y, 130 as lo, 142 as hi union all select ''bigint'', 1000000, 128, 126, 130
	union all select ''uuidv4'', 100000, 578, 560, 601 union all select ''uuidv4'', 1000000, 181, 170, 190
	union all select ''uuidv7'', 100000, 150, 148, 152 union all select ''uuidv7'', 1000000, 144, 141, 147',
		'rows between checkpoints', 'rows', 1, 'WAL per row', 'bytes', 1, '["wal-v4-over-v7"]'
	union all
	select 'wal-checkpoints', 'sizes', 3, 'bars', 'The index of random keys is 1.4 times the index of UUIDv7',
		'select ''bigint'' as series, ''after the load'' as x, 21.4 as y union all select ''uuidv4'', ''after the load'', 37.9
	union all select ''uuidv7'', ''after the load'', 30.1 union all select ''bigint'', ''after the rounds'', 42.8
	union all select ''uuidv4'', ''after the rounds'', 77.0 union all select ''uuidv7'', ''after the rounds'', 60.2',
		'moment', '', 0, 'primary key index', 'MB', 0, '["density-random"]'
	union all
	select 'wal-checkpoints', 'density', 4, 'dots', 'Leaves of random keys are a fifth emptier',
		'select ''bigint'' as series, ''after the load'' as x, 90.1 as y, 89.9 as lo, 90.2 as hi
	union all select ''uuidv4'', ''after the load'', 71.3, 59.1, 73.0 union all select ''uuidv7'', ''after the load'', 89.98, 89.9, 90.1
	union all select ''bigint'', ''after the rounds'', 90.0, 89.8, 90.3
	union all select ''uuidv4'', ''after the rounds'', 68.2, 66.0, 69.5 union all select ''uuidv7'', ''after the rounds'', 89.9, 89.6, 90.2',
		'moment', '', 0, 'leaf density', 'percent', 0, '["density-random"]'
	union all
	select 'sequences', 'crash', 0, 'lanes', 'After the crash the sequence goes on 32 further',
		'select ''session A'' as lane, 0 as start, 40 as stop, ''insert'' as kind, ''1 to 40'' as label
	union all select ''session A'', 100, 130, ''insert'', ''74 to 80'' union all select ''session B'', 5, 42, ''insert'', ''cached''
	union all select ''server'', 42, 42, ''crash'', ''kill -9'' union all select ''server'', 43, 95, ''recovery'', ''recovery''
	union all select ''server'', 100, 100, ''ready'', ''next value 74''',
		'time', 'ms', 0, 'lane', '', 0, '["crash-gap"]'
	union all
	select 'sequences', 'many', 1, 'dots', 'Generation order: 2,000 values, of which an even choice is drawn',
		'with recursive g(i) as (select 0 union all select i + 1 from g where i < 1999)
select ''uuidv7'' as series, i as x, i + (i * 7919 % 13) as y from g union all select ''uuidv4'', i, i * 7919 % 2003 from g',
		'insertion rank', '', 0, 'rank of the value', '', 0, '[]'
	union all
	select 'hostile', 'others', 0, 'lines', 'Other arms: "<b>bold</b>" & `code`',
		'select ''ulid'' as series, 1 as x, 10 as y union all select ''ulid'', 2, 11 union all select ''ulid'', 3, 11.2 union all
	select ''ksuid'', 1, 10.2 union all select ''ksuid'', 2, 11.1 union all select ''ksuid'', 3, 11.3 union all
	select ''snowflake'', 1, 5 union all select ''snowflake'', 2, 6 union all select ''snowflake'', 3, 4 union all
	select ''x"><svg onload=alert(1)>'', 1, 1 union all select ''x"><svg onload=alert(1)>'', 3, 2',
		'x <axis> `system("id")`', 'u"nit', 0, 'y @@axis@@ \n ''; exit', '', 0, '["x\"><script>alert(1)</script>"]'
	union all
	select 'hostile', 'broken', 1, 'bars', 'select no_such_function()', 'select * from no_such_table_<script>', 'x', '', 0, 'y', '', 0, '[]'
	union all
	select 'hostile', 'empty', 2, 'dots', 'Nothing to see', 'select ''a'' as series, 1 as x, null as y', 'x', '', 0, 'y', '', 0, '[]'
) c;
