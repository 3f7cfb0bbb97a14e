//! Memory of the host.

use std::path::Path;

/// Where Linux mounts control groups (version 2).
const GROUPS: &str = "/sys/fs/cgroup";

/// Bytes that the host can still give to this process, where it tells: what the machine has left, and no more than its
/// control groups allow, which bound containers and services.
pub(crate) fn available() -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let of_machine = read("/proc/meminfo".as_ref()).and_then(|text| from_meminfo(&text));
    let groups = read("/proc/self/cgroup".as_ref());
    let of_groups = groups.and_then(|text| left_by_groups(own_group(&text)?, read));
    of_machine.into_iter().chain(of_groups).min()
}

fn from_meminfo(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes = line.trim().strip_suffix("kB")?.trim();
    kibibytes.parse::<u64>().ok()?.checked_mul(1024)
}

/// The path of a process's own group in `/proc/self/cgroup`.
fn own_group(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

/// What a group and those around it leave, if any of them is bounded. Of a container that does not see the groups
/// above it, the root is what bounds it.
fn left_by_groups(own: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let own = Path::new(GROUPS).join(own.trim_start_matches('/'));
    let groups = own
        .ancestors()
        .take_while(|folder| folder.starts_with(GROUPS));
    let left = groups.filter_map(|folder| {
        let file = |name: &str| read(&folder.join(name));
        let statistics = file("memory.stat").unwrap_or_default();
        left_by_group(&file("memory.max")?, &file("memory.current")?, &statistics)
    });
    left.min()
}

/// What one group leaves: its bound less what it uses, of which the files that nobody looked at lately are given up
/// when memory is asked for. Nothing if it has no bound (`max`).
fn left_by_group(bound: &str, used: &str, statistics: &str) -> Option<u64> {
    let bytes = |text: &str| text.trim().parse::<u64>().ok();
    let files = statistics
        .lines()
        .find_map(|line| bytes(line.strip_prefix("inactive_file ")?))
        .unwrap_or(0);
    let used = bytes(used)?.saturating_sub(files);
    Some(bytes(bound)?.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_linux_tells() {
        let text = "MemTotal:       16 kB\nMemFree: 1 kB\nMemAvailable:    7 kB\nBuffers: 2 kB\n";
        assert_eq!(from_meminfo(text), Some(7 * 1024));
        for text in ["", "MemAvailable: 7 MB", "MemAvailable: x kB"] {
            assert_eq!(from_meminfo(text), None, "{text}");
        }
        #[cfg(target_os = "linux")]
        assert!(available().is_some());
    }

    #[test]
    fn finds_the_own_group_among_older_ones() {
        let text = "4:memory:/old\n0::/user.slice/run-7.scope\n";
        assert_eq!(own_group(text), Some("/user.slice/run-7.scope"));
        assert_eq!(own_group("4:memory:/old\n"), None);
    }

    #[test]
    fn a_group_leaves_its_bound_less_what_it_needs() {
        assert_eq!(left_by_group("1000\n", "300\n", ""), Some(700));
        let statistics = "anon 200\ninactive_file 80\nactive_file 20\n";
        assert_eq!(left_by_group("1000\n", "300\n", statistics), Some(780));
        assert_eq!(left_by_group("1000\n", "1200\n", ""), Some(0));
        assert_eq!(left_by_group("max\n", "300\n", ""), None);
        assert_eq!(left_by_group("1000\n", "", ""), None);
    }

    #[test]
    fn the_narrowest_group_around_a_process_counts() {
        let files = |bounds: [(&'static str, &'static str); 3]| {
            move |path: &Path| {
                let name = path.file_name()?.to_str()?;
                let folder = path.parent()?.to_str()?;
                let (_, bound) = bounds.iter().find(|(group, _)| *group == folder)?;
                match name {
                    "memory.max" => Some((*bound).to_owned()),
                    "memory.current" => Some("10\n".to_owned()),
                    _ => None,
                }
            }
        };
        let left = |bounds| left_by_groups("/a/b", files(bounds));
        let [root, outer, inner] = ["/sys/fs/cgroup", "/sys/fs/cgroup/a", "/sys/fs/cgroup/a/b"];
        let own = [(inner, "100\n"), (outer, "max\n"), (root, "500\n")];
        assert_eq!(left(own), Some(90));
        let around = [(inner, "max\n"), (outer, "70\n"), (root, "500\n")];
        assert_eq!(left(around), Some(60));
        let unbounded = [(inner, "max\n"), (outer, "max\n"), (root, "max\n")];
        assert_eq!(left(unbounded), None);
        // A container that does not see its own group.
        let hidden = [("", ""), ("", ""), (root, "50\n")];
        assert_eq!(left(hidden), Some(40));
    }
}
