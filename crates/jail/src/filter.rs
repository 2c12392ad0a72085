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

/// Compiled once in the zygote, applied in every cell.
pub(crate) fn compile() -> Option<BpfProgram> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        HARMLESS.iter().map(|call| (*call, Vec::new())).collect();
    // Memory may be mapped, but never made executable.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let not_executable = SeccompCondition::new(
            2,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64),
            0,
        )
        .ok()?;
        rules.insert(call, vec![SeccompRule::new(vec![not_executable]).ok()?]);
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::KillProcess,
        SeccompAction::Allow,
        architecture,
    )
    .ok()?;
    BpfProgram::try_from(filter).ok()
}
