# SPDX-License-Identifier: Apache-2.0
# Every system call that kernels may make is printed with its reason; no path, socket, process or signal is among them.
"$ASSAY" selftest --policy >out || exit 1
grep -c . out | awk '$1 < 40 { print "few lines" }'
awk '/only while the library/ { exit } { print }' out >kernels
grep -qE '^  (open|openat|read|socket|clone|clone3|fork|execve|kill|prctl|ptrace|io_uring_setup|userfaultfd|rt_sigaction|mprotect|sched_setaffinity|nanosleep|seccomp) ' kernels && echo "too much"
awk '/^  [a-z]/ && NF < 3 { print "no reason" }' out
cat out
