//! Memory of the host.

use std::path::Path;

/// A version of Linux's control groups: where it mounts those that bound memory, and what it calls things there.
struct Version {
    root: &'static str,
    /// What stands before the path of a process's own group in `/proc/self/cgroup`.
    controller: &'static str,
    bound: &'static str,
    used: &'static str,
    /// What is kept of files, among the statistics, the groups inside included.
    files: [&'static str; 2],
}

const FIRST: Version = Version {
    root: "/sys/fs/cgroup/memory",
    controller: "memory",
    bound: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    files: ["total_inactive_file", "total_active_file"],
};

const SECOND: Version = Version {
    root: "/sys/fs/cgroup",
    controller: "",
    bound: "memory.max",
    used: "memory.current",
    files: ["inactive_file", "active_file"],
};

/// Bytes that the host can still give to this process, where it tells: what the machine has left, and no more than its
/// control groups allow, which bound containers and services.
pub(crate) fn available() -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let of_machine = read("/proc/meminfo".as_ref()).and_then(|text| from_meminfo(&text));
    let groups = read("/proc/self/cgroup".as_ref()).unwrap_or_default();
    let of_groups = [FIRST, SECOND].map(|version| version.left(version.own_group(&groups)?, read));
    let of_groups = of_groups.into_iter().flatten();
    of_machine.into_iter().chain(of_groups).min()
}

fn from_meminfo(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes = line.trim().strip_suffix("kB")?.trim();
    kibibytes.parse::<u64>().ok()?.checked_mul(1024)
}

impl Version {
    /// The path of a process's own group in `/proc/self/cgroup`, whose lines are `number:controller,..:path`.
    fn own_group<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.lines().find_map(|line| {
            let (_, line) = line.split_once(':')?;
            let (controllers, path) = line.split_once(':')?;
            let mut controllers = controllers.split(',');
            controllers
                .any(|one| one == self.controller)
                .then_some(path)
        })
    }

    /// What a group and those around it leave, if any of them is bounded. Of a container that does not see the groups
    /// above it, the root is what bounds it.
    fn left(&self, own: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
        let own = Path::new(self.root).join(own.trim_start_matches('/'));
        let groups = own
            .ancestors()
            .take_while(|folder| folder.starts_with(self.root));
        let left = groups.filter_map(|folder| {
            let file = |name: &str| read(&folder.join(name));
            let statistics = file("memory.stat").unwrap_or_default();
            self.left_by_group(&file(self.bound)?, &file(self.used)?, &statistics)
        });
        left.min()
    }

    /// What one group leaves: its bound less what it uses, of which what is kept of files is given up when memory is
    /// asked for. Nothing if it has no bound (`max`; the first version has a number then that no machine reaches).
    fn left_by_group(&self, bound: &str, used: &str, statistics: &str) -> Option<u64> {
        let bytes = |text: &str| text.trim().parse::<u64>().ok();
        let of_files = statistics.lines().filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            bytes(value).filter(|_| self.files.contains(&name))
        });
        let used = bytes(used)?.saturating_sub(of_files.sum());
        Some(bytes(bound)?.saturating_sub(used))
    }
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
    fn finds_the_own_group_of_each_version() {
        let text = "5:cpu,cpuacct:/of cpu\n4:hugetlb,memory:/old\n0::/user.slice/run-7.scope\n";
        assert_eq!(SECOND.own_group(text), Some("/user.slice/run-7.scope"));
        assert_eq!(FIRST.own_group(text), Some("/old"));
        assert_eq!(SECOND.own_group("4:memory:/old\n"), None);
        assert_eq!(FIRST.own_group("0::/new\n"), None);
    }

    #[test]
    fn a_group_leaves_its_bound_less_what_it_needs() {
        let left = |bound, used, statistics| SECOND.left_by_group(bound, used, statistics);
        assert_eq!(left("1000\n", "300\n", ""), Some(700));
        let statistics = "anon 200\ninactive_file 80\nactive_file 20\n";
        assert_eq!(left("1000\n", "300\n", statistics), Some(800));
        assert_eq!(left("1000\n", "1200\n", ""), Some(0));
        assert_eq!(left("max\n", "300\n", ""), None);
        assert_eq!(left("1000\n", "", ""), None);
    }

    #[test]
    fn groups_of_the_first_version_count_too() {
        let read = |path: &Path| {
            let text = match path.to_str()? {
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes" => "1000\n",
                "/sys/fs/cgroup/memory/a/memory.usage_in_bytes" => "300\n",
                // First of the group alone, then with those inside.
                "/sys/fs/cgroup/memory/a/memory.stat" => {
                    "inactive_file 1\nactive_file 1\ntotal_inactive_file 80\ntotal_active_file 20\n"
                }
                "/sys/fs/cgroup/memory/memory.limit_in_bytes" => "9223372036854771712\n",
                "/sys/fs/cgroup/memory/memory.usage_in_bytes" => "500\n",
                _ => return None,
            };
            Some(text.to_owned())
        };
        assert_eq!(FIRST.left("/a", read), Some(800));
        assert_eq!(SECOND.left("/a", read), None);
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
        let left = |bounds| SECOND.left("/a/b", files(bounds));
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
