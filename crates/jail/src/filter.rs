//! The system calls that a cell may make, as a seccomp program. Any other call kills it.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// Calls that only reach memory, the clock, random numbers and descriptors that are already open.
const HARMLESS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // The C library takes an error of this call for success, so it cannot be refused.
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Calls that a starting thread makes.
const OF_THREADS: &[i64] = &[
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_sched_getaffinity,
    // Allowed here because the other program answers it with an error.
    libc::SYS_clone3,
];

/// Flags of `clone` that create namespaces; cells may not use them.
const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Compiled once in the zygote and applied in every cell.
pub(crate) struct Filter {
    /// Answers calls with an error; applied first.
    refused: Option<BpfProgram>,
    /// Kills the process at any other call.
    allowed: BpfProgram,
}

impl Filter {
    /// Applies the filter: from now on this process can make only the allowed calls.
    pub fn apply(&self) -> Result<(), seccompiler::Error> {
        if let Some(refused) = &self.refused {
            seccompiler::apply_filter(refused)?;
        }
        seccompiler::apply_filter(&self.allowed)
    }
}

/// Compiles the filter; `None` if the processor architecture is not supported.
pub(crate) fn compile(threads: bool) -> Option<Filter> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        HARMLESS.iter().map(|call| (*call, Vec::new())).collect();
    // Memory may be mapped, but never executable.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![bits(2, libc::PROT_EXEC as u64, 0)?]);
    }
    let mut refused = None;
    if threads {
        rules.extend(OF_THREADS.iter().map(|call| (*call, Vec::new())));
        // `clone` may create threads, but not processes. `clone3` takes its flags from memory,
        // where a filter cannot read them; it is refused, and the C library falls back to `clone`.
        let thread = libc::CLONE_THREAD | libc::CLONE_VM;
        let mask = thread as u32 as u64 | NAMESPACES as u32 as u64;
        rules.insert(libc::SYS_clone, vec![bits(0, mask, thread as u64)?]);
        // Handlers for the two signals that the C library uses itself, and for no others: SIGPROF
        // must keep ending the process at its CPU limit.
        let own = [32, 33].map(|signal| bits(0, u64::from(u32::MAX), signal));
        let own: Option<Vec<SeccompRule>> = own.into_iter().collect();
        rules.insert(libc::SYS_rt_sigaction, own?);
        let unseen = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        let missing = SeccompAction::Errno(libc::ENOSYS as u32);
        refused = Some(program(unseen, SeccompAction::Allow, missing)?);
    }
    let kill = SeccompAction::KillProcess;
    let (plain, checked): (BTreeMap<_, _>, _) =
        rules.into_iter().partition(|(_, rules)| rules.is_empty());
    let calls: Vec<u32> = plain
        .into_keys()
        .map(u32::try_from)
        .collect::<Result<_, _>>()
        .ok()?;
    let mut allowed = search(&ranges(&calls));
    allowed.extend(program(checked, kill, SeccompAction::Allow)?);
    Some(Filter { refused, allowed })
}

/// Merges sorted numbers into ranges of neighbors, both ends included.
fn ranges(calls: &[u32]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for call in calls {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *call => *last = *call,
            _ => ranges.push((*call, *call)),
        }
    }
    ranges
}

/// `AUDIT_ARCH_*` of this processor (linux/audit.h); 0, which no processor has, if it is unknown.
const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") {
    0xC000_003E
} else if cfg!(target_arch = "aarch64") {
    0xC000_00B7
} else {
    0
};
/// Offsets in `struct seccomp_data` (linux/seccomp.h).
const OFFSET_OF_NUMBER: u32 = 0;
const OFFSET_OF_ARCHITECTURE: u32 = 4;
/// `SECCOMP_RET_ALLOW`.
const ALLOW: u32 = 0x7FFF_0000;
// Instructions of classic BPF (linux/bpf_common.h).
const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const IF_EQUAL: u16 = 0x15;
const IF_GREATER: u16 = 0x25;
const IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Allows the calls in `ranges`, found by binary search; other calls continue after its end. The
/// kernel evaluates a new filter once for every system call, so a linear list would cost each cell
/// tens of microseconds.
fn search(ranges: &[(u32, u32)]) -> BpfProgram {
    let mut tree = Vec::new();
    branch(&mut tree, ranges);
    let length = tree.len() as u32;
    let mut program = vec![
        instruction(LOAD, 0, 0, OFFSET_OF_ARCHITECTURE),
        instruction(IF_EQUAL, 1, 0, ARCHITECTURE),
        instruction(JUMP, 0, 0, length + 1),
        instruction(LOAD, 0, 0, OFFSET_OF_NUMBER),
    ];
    for (index, mut step) in tree.into_iter().enumerate() {
        if step.code == JUMP {
            // A miss jumps to the end, from wherever it is in the tree.
            step.k = length - index as u32 - 1;
        }
        program.push(step);
    }
    program
}

fn branch(tree: &mut BpfProgram, ranges: &[(u32, u32)]) {
    let missed = instruction(JUMP, 0, 0, 0);
    let [range] = ranges else {
        let (left, right) = ranges.split_at(ranges.len() / 2);
        let Some((first, _)) = right.first() else {
            tree.push(missed);
            return;
        };
        let place = tree.len();
        tree.push(missed.clone());
        branch(tree, left);
        // A tree of some dozens of calls is far shorter than 255 instructions.
        let skipped = (tree.len() - place - 1) as u8;
        tree[place] = instruction(IF_AT_LEAST, skipped, 0, *first);
        branch(tree, right);
        return;
    };
    tree.push(instruction(IF_AT_LEAST, 0, 2, range.0));
    tree.push(instruction(IF_GREATER, 1, 0, range.1));
    tree.push(instruction(RETURN, 0, 0, ALLOW));
    tree.push(missed);
}

fn instruction(code: u16, then: u8, otherwise: u8, k: u32) -> sock_filter {
    sock_filter {
        code,
        jt: then,
        jf: otherwise,
        k,
    }
}

/// Matches if the bits of `mask` in argument `index` are `value`.
fn bits(index: u8, mask: u64, value: u64) -> Option<SeccompRule> {
    let operation = SeccompCmpOp::MaskedEq(mask);
    let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, operation, value);
    SeccompRule::new(vec![condition.ok()?]).ok()
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Option<BpfProgram> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let filter = SeccompFilter::new(rules, otherwise, matched, architecture).ok()?;
    BpfProgram::try_from(filter).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a program that begins with the search allows a call; `None` if the search leaves it
    /// to the instructions that follow.
    fn found(program: &[sock_filter], architecture: u32, number: u32) -> Option<u32> {
        let (mut place, mut value) = (0, 0);
        while let Some(step) = program.get(place) {
            let jump = |is: bool| usize::from(if is { step.jt } else { step.jf });
            place += 1;
            match step.code {
                LOAD if step.k == OFFSET_OF_NUMBER => value = number,
                LOAD => value = architecture,
                JUMP => place += step.k as usize,
                IF_EQUAL => place += jump(value == step.k),
                IF_GREATER => place += jump(value > step.k),
                IF_AT_LEAST => place += jump(value >= step.k),
                RETURN => return Some(step.k),
                other => panic!("no such instruction: {other}"),
            }
        }
        assert_eq!(place, program.len(), "it goes on right behind the end");
        None
    }

    #[test]
    fn a_search_finds_what_is_allowed_and_nothing_else() {
        for calls in [
            &[][..],
            &[0],
            &[7, 8, 9],
            &[0, 1, 3, 9, 10, 11, 60, 231, 318],
        ] {
            let program = search(&ranges(calls));
            for number in 0..700 {
                let expected = calls.contains(&number).then_some(ALLOW);
                assert_eq!(found(&program, ARCHITECTURE, number), expected, "{number}");
                assert_eq!(found(&program, ARCHITECTURE ^ 1, number), None);
                // Calls of the x32 ABI have a bit of their own.
                assert_eq!(found(&program, ARCHITECTURE, number | 1 << 30), None);
            }
        }
    }

    #[test]
    fn cells_may_make_every_harmless_call() {
        let program = compile(true).unwrap().allowed;
        for call in HARMLESS.iter().chain(OF_THREADS) {
            let number = u32::try_from(*call).unwrap();
            // The search comes first, so the instructions that follow it are not reached.
            assert_eq!(found(&program, ARCHITECTURE, number), Some(ALLOW));
        }
    }
}
