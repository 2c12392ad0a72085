//! The system calls that a cell may make, as a seccomp program. Any other kills it.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Calls that only reach memory, the clock, chance and descriptors that are open already.
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
    // An error from here is believed to be success by the C library, so it cannot be refused.
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// What a thread does when it begins.
const OF_THREADS: &[i64] = &[
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_sched_getaffinity,
    // Allowed here, because the other program answers it with an error.
    libc::SYS_clone3,
];

const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Compiled once in the zygote, applied in every cell.
pub(crate) struct Filter {
    /// Answers calls by an error; applied first.
    refused: Option<BpfProgram>,
    /// Kills whoever makes another call.
    allowed: BpfProgram,
}

impl Filter {
    /// From here on this process can only make the calls that are allowed.
    pub fn apply(&self) -> Result<(), seccompiler::Error> {
        if let Some(refused) = &self.refused {
            seccompiler::apply_filter(refused)?;
        }
        seccompiler::apply_filter(&self.allowed)
    }
}

/// Compiles the filter; `None` where this processor is not known to it.
pub(crate) fn compile(threads: bool) -> Option<Filter> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        HARMLESS.iter().map(|call| (*call, Vec::new())).collect();
    // Memory may be mapped, but never made executable.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![bits(2, libc::PROT_EXEC as u64, 0)?]);
    }
    let mut refused = None;
    if threads {
        rules.extend(OF_THREADS.iter().map(|call| (*call, Vec::new())));
        // A thread, never a process; and without the call whose flags a filter cannot see: the C
        // library then makes the one whose flags it can.
        let thread = libc::CLONE_THREAD | libc::CLONE_VM;
        let mask = thread as u32 as u64 | NAMESPACES as u32 as u64;
        rules.insert(libc::SYS_clone, vec![bits(0, mask, thread as u64)?]);
        // The C library's own two signals, and no other: behind SIGPROF is the bound of time.
        let own = [32, 33].map(|signal| bits(0, u64::from(u32::MAX), signal));
        let own: Option<Vec<SeccompRule>> = own.into_iter().collect();
        rules.insert(libc::SYS_rt_sigaction, own?);
        let unseen = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        let missing = SeccompAction::Errno(libc::ENOSYS as u32);
        refused = Some(program(unseen, SeccompAction::Allow, missing)?);
    }
    let kill = SeccompAction::KillProcess;
    Some(Filter {
        refused,
        allowed: program(rules, kill, SeccompAction::Allow)?,
    })
}

/// Of argument `index`, the bits of `mask` are `value`.
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
