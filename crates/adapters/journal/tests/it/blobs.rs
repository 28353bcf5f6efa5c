//! Blobs: the same content back or an error, never other content; nothing left over.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use fixpoint_journal::{FileBlobs, MAX_BLOB_BYTES};
use fixpoint_ports::{BlobError, BlobId, Blobs};

fn path(root: &Path, BlobId(name): &BlobId) -> PathBuf {
    let (directory, file) = name.split_at(2);
    root.join(directory).join(file)
}

fn unfinished(root: &Path) -> usize {
    fs::read_dir(root.join("unfinished")).unwrap().count()
}

#[test]
fn what_is_put_is_given_back_also_after_reopening() {
    let root = tempfile::tempdir().unwrap();
    let blobs = FileBlobs::open(root.path()).unwrap();
    let contents = [vec![], b"small".to_vec(), vec![7; 300_000]];
    let ids: Vec<BlobId> = contents.iter().map(|content| blobs.put(content).unwrap()).collect();
    let reopened = FileBlobs::open(root.path()).unwrap();
    for (id, content) in ids.iter().zip(&contents) {
        assert_eq!(reopened.get(id).unwrap(), *content);
        assert_eq!(id.0, blake3::hash(content).to_hex().to_string());
    }
    assert_eq!(unfinished(root.path()), 0);
}

#[test]
fn the_same_content_is_written_once() {
    let root = tempfile::tempdir().unwrap();
    let blobs = FileBlobs::open(root.path()).unwrap();
    let id = blobs.put(b"content").unwrap();
    let modified = || path(root.path(), &id).metadata().unwrap().modified().unwrap();
    let before = modified();
    assert_eq!(blobs.put(b"content").unwrap(), id);
    assert_eq!(modified(), before);
}

#[test]
fn damage_is_found_and_mended_by_the_same_content() {
    let root = tempfile::tempdir().unwrap();
    let blobs = FileBlobs::open(root.path()).unwrap();
    let id = blobs.put(b"content").unwrap();
    for damaged in [&b"cantent"[..], b"conten", b"content ", b""] {
        fs::write(path(root.path(), &id), damaged).unwrap();
        assert!(matches!(blobs.get(&id), Err(BlobError::Damaged(other)) if other == id));
        assert_eq!(blobs.put(b"content").unwrap(), id);
        assert_eq!(blobs.get(&id).unwrap(), b"content");
    }
}

#[test]
fn what_is_not_there_is_missing_whatever_it_is_called() {
    let root = tempfile::tempdir().unwrap();
    let blobs = FileBlobs::open(&root.path().join("blobs")).unwrap();
    fs::write(root.path().join("secret"), "secret").unwrap();
    let hash = blake3::hash(b"never put").to_hex().to_string();
    let upper = hash.to_uppercase();
    for name in [&hash, &upper, "", "..", "../secret", "a", "é", "/etc/passwd"] {
        let id = BlobId(name.to_string());
        assert!(matches!(blobs.get(&id), Err(BlobError::Missing(other)) if other == id), "{name}");
    }
    let kept = blobs.put(b"kept").unwrap();
    fs::remove_file(path(&root.path().join("blobs"), &kept)).unwrap();
    assert!(matches!(blobs.get(&kept), Err(BlobError::Missing(_))));
}

#[test]
fn the_same_content_may_be_put_from_everywhere_at_once() {
    let root = tempfile::tempdir().unwrap();
    let blobs = [FileBlobs::open(root.path()).unwrap(), FileBlobs::open(root.path()).unwrap()];
    thread::scope(|scope| {
        for number in 0..8_usize {
            let blobs = &blobs[number % 2];
            scope.spawn(move || {
                for content in 0..10_u8 {
                    let id = blobs.put(&[content; 5000]).unwrap();
                    assert_eq!(blobs.get(&id).unwrap(), [content; 5000]);
                }
            });
        }
    });
    assert_eq!(unfinished(root.path()), 0);
}

#[test]
fn what_a_dead_writer_left_is_removed_and_what_a_living_one_writes_is_not() {
    let root = tempfile::tempdir().unwrap();
    drop(FileBlobs::open(root.path()).unwrap());
    let dead = root.path().join("unfinished/1-0");
    fs::write(&dead, "half a bl").unwrap();
    let living = root.path().join("unfinished/2-0");
    let held = fs::File::create(&living).unwrap();
    held.try_lock().unwrap();
    drop(FileBlobs::open(root.path()).unwrap());
    assert_eq!((dead.exists(), living.exists()), (false, true));
}

#[test]
fn what_is_too_large_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let blobs = FileBlobs::open(root.path()).unwrap();
    assert!(matches!(blobs.put(&vec![0; MAX_BLOB_BYTES + 1]), Err(BlobError::Unavailable(_))));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}
