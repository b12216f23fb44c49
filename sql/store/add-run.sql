-- A run begins. Parameters: its facts.
insert into run (started_us, profile, seed, argv, keylab_version, keylab_commit, pid, pid_started)
values (:started_us, :profile, :seed, :argv, :keylab_version, :keylab_commit, :pid, :pid_started)
