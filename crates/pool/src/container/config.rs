//! The configuration of a container by the OCI runtime specification 1.0.
//!
//! Folders are mounted before the runtime starts (`platen_jail::container`), so it mounts only
//! `/proc` and `/dev`. Source: <https://github.com/opencontainers/runtime-spec/blob/v1.0.2/config.md>.

use std::{ffi::OsStr, path::Path};

use platen_jail::{container, sandbox};
use serde_json::{Value, json};

use crate::{command::Command, image};

/// System calls that documents need in no program, and that reach more of the kernel: modules,
/// mounts, clocks, tracing of others, keys, and interfaces with a history of errors.
const DENIED: [&str; 57] = [
    "acct",
    "add_key",
    "adjtimex",
    "bpf",
    "clock_adjtime",
    "clock_settime",
    "create_module",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "get_kernel_syms",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "nfsservctl",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pivot_root",
    "process_madvise",
    "process_vm_readv",
    "process_vm_writev",
    "query_module",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "setdomainname",
    "sethostname",
    "settimeofday",
    "stime",
    "swapoff",
    "swapon",
    "syslog",
    "umount",
    "umount2",
    "userfaultfd",
    "ustat",
    "vhangup",
    "vm86",
    "vm86old",
];
/// Those with which a program makes namespaces of its own.
const NESTING: [&str; 2] = ["setns", "unshare"];
/// `CLONE_NEWUSER` of clone(2).
const NEW_USER: u64 = 0x1000_0000;
/// `EPERM` and `ENOSYS`.
const NOT_PERMITTED: u32 = 1;
const NO_SUCH_CALL: u32 = 38;

/// Files of `/proc` that tell of the host.
const MASKED: [&str; 7] = [
    "/proc/acpi",
    "/proc/kcore",
    "/proc/keys",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
    "/proc/timer_stats",
];
/// Files of `/proc` with which the host could be changed.
const CLOSED: [&str; 5] = [
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/sys",
    "/proc/sysrq-trigger",
];

/// The configuration for a command, whose user inside is `user`.
pub(super) fn of(command: &Command, access: &sandbox::Spec, stage: &Path, user: u32) -> Value {
    let text = |text: &OsStr| text.to_string_lossy().into_owned();
    let arguments: Vec<String> = command.line().map(text).collect();
    let environment = command.environment(&access.folder);
    let environment: Vec<String> = environment
        .iter()
        .map(|(name, value)| match name == "PATH" {
            true => format!("PATH={}", image::FOLDERS),
            false => format!("{}={}", text(name), text(value)),
        })
        .collect();
    // The runtime is user 0 of a namespace in which nobody else is.
    let mapped = json!([{ "containerID": user, "hostID": 0, "size": 1 }]);
    let kinds = ["pid", "mount", "network", "ipc", "uts", "user"];
    json!({
        "ociVersion": "1.0.2",
        "root": { "path": text(container::root_below(stage).as_os_str()), "readonly": true },
        "hostname": "cell",
        "process": {
            "terminal": false,
            "user": { "uid": user, "gid": user },
            "args": arguments,
            "env": environment,
            "cwd": text(access.folder.as_os_str()),
            "noNewPrivileges": true,
            "capabilities": {
                "bounding": [], "effective": [], "inheritable": [], "permitted": [], "ambient": [],
            },
        },
        "mounts": [
            mount("/proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("/dev", "tmpfs", &["nosuid", "noexec", "mode=755", "size=64k"]),
        ],
        "linux": {
            "namespaces": kinds.map(|kind| json!({ "type": kind })),
            "uidMappings": mapped,
            "gidMappings": mapped,
            "maskedPaths": MASKED,
            "readonlyPaths": CLOSED,
            "seccomp": filter(access.nests),
        },
    })
}

fn mount(place: &str, kind: &str, options: &[&str]) -> Value {
    json!({ "destination": place, "type": kind, "source": kind, "options": options })
}

/// The filter of system calls. It denies what is known to be needless instead of allowing what is
/// known to be needed: the programs are large, and images have many versions of them.
fn filter(nests: bool) -> Value {
    let deny = |names: &[&str], code: u32| json!({ "names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": code });
    let mut rules = vec![deny(&DENIED, NOT_PERMITTED)];
    if !nests {
        rules.push(deny(&NESTING, NOT_PERMITTED));
        // Its flags are in memory, where a filter does not see them; libraries fall back to clone.
        rules.push(deny(&["clone3"], NO_SUCH_CALL));
        let mut cloned = deny(&["clone"], NOT_PERMITTED);
        cloned["args"] = json!([{
            "index": 0,
            "value": NEW_USER,
            "valueTwo": NEW_USER,
            "op": "SCMP_CMP_MASKED_EQ",
        }]);
        rules.push(cloned);
    }
    json!({ "defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(nests: bool) -> Value {
        let command = Command::new("/usr/bin/soffice")
            .arg("--headless")
            .env("LD_PRELOAD", "/usr/lib/a.so");
        let command = if nests { command.nests() } else { command };
        let access = command.container_spec(Path::new("/srv/pool/0"));
        of(&command, &access, Path::new("/srv/pool/containers"), 65_534)
    }

    #[test]
    fn a_container_has_a_closed_root_and_no_rights() {
        let config = config(false);
        let root = json!({ "path": "/srv/pool/containers/root", "readonly": true });
        assert_eq!(config["root"], root);
        let process = &config["process"];
        assert_eq!(process["args"], json!(["/usr/bin/soffice", "--headless"]));
        assert_eq!(process["cwd"], "/srv/pool/0");
        assert_eq!(process["noNewPrivileges"], true);
        let sets = process["capabilities"].as_object().unwrap();
        assert_eq!(sets.len(), 5);
        assert!(sets.values().all(|set| set == &json!([])));
        let has = |line: &str| process["env"].as_array().unwrap().contains(&json!(line));
        assert!(has("LD_PRELOAD=/usr/lib/a.so") && has("HOME=/srv/pool/0"));
        assert!(has(&format!("PATH={}", image::FOLDERS)));
        let kinds = config["linux"]["namespaces"].as_array().unwrap();
        assert!(kinds.contains(&json!({ "type": "network" })));
    }

    #[test]
    fn only_programs_that_nest_may_make_namespaces() {
        let denied = |nests: bool, name: &str| {
            let rules = config(nests)["linux"]["seccomp"]["syscalls"].clone();
            let rules = rules.as_array().unwrap().clone();
            let lists = |rule: &Value| rule["names"].as_array().unwrap().contains(&json!(name));
            rules.iter().any(lists)
        };
        for name in ["unshare", "setns", "clone", "clone3"] {
            assert!(denied(false, name) && !denied(true, name), "{name}");
        }
        assert!(denied(true, "mount") && denied(true, "bpf"));
    }
}
