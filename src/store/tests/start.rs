//! Contract 16.5: what the daemon and a tool find at their start.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

fn refusal(outcome: Result<Store, OpenError>) -> String {
    match outcome {
        Err(error @ OpenError::Configuration { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_daemon_names_the_first_ones_pid() {
    let world = World::new();
    let error = Store::open_daemon(world.root(), world.now, [7; 32]).unwrap_err();
    assert!(matches!(&error, OpenError::InUse { pid, .. } if *pid == std::process::id().to_string()), "{error}");
    assert_eq!(world.tool().directory().daemon_pid().unwrap(), Some(std::process::id()));
    let directory = world.store.directory().clone();
    drop(world);
    // Gone with its directory: nobody holds it.
    assert_eq!(directory.daemon_pid().unwrap(), None);
}

#[test]
fn everything_is_private() {
    let world = World::new();
    world.stored(&Wish { file: Some(b"%PDF"), ..Wish::default() });
    let mode = |path: &str| std::fs::metadata(world.root().join(path)).unwrap().permissions().mode() & 0o777;
    for file in ["formd.db", "formd.db-wal", "formd.db-shm", "key", "lock"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    let day = format!("attachments/{}", world.now.day());
    for folder in ["", "tmp", "attachments", "quarantine", "mail", &day] {
        assert_eq!(mode(folder), 0o700, "{folder}");
    }
    let file = format!("{day}/{}", world.files("attachments")[0]);
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn a_damaged_database_is_named_with_the_remedy_by_daemon_and_tool() {
    for damage in [0, 4096] {
        let mut world = World::new();
        world.stored(&Wish::default());
        let tool = world.tool();
        drop(std::mem::replace(&mut world.store, tool));
        let database = world.root().join("formd.db");
        Connection::open(&database).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let whole = std::fs::read(&database).unwrap();
        let mut bytes = whole.clone();
        bytes[damage..].fill(0xa5);
        std::fs::write(&database, bytes).unwrap();
        for outcome in [Store::open_daemon(world.root(), world.now, [7; 32]), Store::open_tool(world.root())] {
            let problem = refusal(outcome);
            assert!(problem.contains(&*database.to_string_lossy()), "{problem}");
            assert!(problem.contains("is damaged") && problem.contains("restore the latest backup"), "{problem}");
        }
        std::fs::write(&database, whole).unwrap();
    }
}

#[test]
fn folders_open_to_others_are_refused_with_the_remedy() {
    for (path, mode, hint) in
        [("", 0o770, "chmod go-w"), ("attachments", 0o707, "chmod go-w"), ("key", 0o644, "chmod 600")]
    {
        let mut world = World::new();
        let tool = world.tool();
        drop(std::mem::replace(&mut world.store, tool));
        let target = world.root().join(path);
        let before = target.metadata().unwrap().permissions();
        std::fs::set_permissions(&target, Permissions::from_mode(mode)).unwrap();
        let problem = refusal(Store::open_daemon(world.root(), world.now, [7; 32]));
        assert!(problem.contains(hint), "{problem}");
        std::fs::set_permissions(&target, before).unwrap();
    }
}

#[test]
fn a_key_is_made_once_kept_and_missed_when_it_is_lost() {
    let mut world = World::new();
    let hash = world.store.key().keyed("x", &[b"y"]);
    world.restart();
    assert_eq!(world.store.key().keyed("x", &[b"y"]), hash);
    assert_eq!(world.tool().key().keyed("x", &[b"y"]), hash);
    world.stored(&Wish::default());
    let tool = world.tool();
    drop(std::mem::replace(&mut world.store, tool));
    std::fs::remove_file(world.root().join("key")).unwrap();
    let problem = refusal(Store::open_daemon(world.root(), world.now, [9; 32]));
    assert!(problem.contains("is missing"), "{problem}");
    assert!(refusal(Store::open_tool(world.root())).contains("restore the file `key`"));
}

#[test]
fn a_newer_database_is_refused_by_both_programs() {
    let mut world = World::new();
    let tool = world.tool();
    drop(std::mem::replace(&mut world.store, tool));
    let db = Connection::open(world.root().join("formd.db")).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    for outcome in [Store::open_daemon(world.root(), world.now, [7; 32]), Store::open_tool(world.root())] {
        assert!(refusal(outcome).contains("has version 99"));
    }
}

#[test]
fn a_tool_without_a_database_says_so_and_makes_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("data");
    assert!(matches!(Store::open_tool(&path), Err(OpenError::Missing(_))));
    assert!(!path.exists());
}

#[test]
fn a_tool_writes_beside_a_daemon_whose_queue_never_empties() {
    let world = World::new();
    let tool = world.tool();
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while busy.load(Ordering::Relaxed) {
                let now = world.now;
                world.store.writer().submit(move |db, _| facts::write(db, "config_hash", "x", now), drop);
            }
        });
        for n in 0..30_u32 {
            tool.set_fact("limiter_failures", &n.to_string(), world.now).unwrap();
        }
        busy.store(false, Ordering::Relaxed);
    });
    let facts = world.store.facts().unwrap();
    assert_eq!((facts.config_hash.as_deref(), facts.limiter_failures), (Some("x"), 29));
    world.store.ping().unwrap();
}
