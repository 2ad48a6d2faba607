-- Whether an object of a remote was a file of a node that was purged: its content stays there, and is not for whoever gets the name.
CREATE INDEX tombstone_purged_idx ON file.tombstone (remote_name, md5(remote_path)) WHERE reason = 'purged';
