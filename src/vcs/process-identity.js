import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
export function thisProcess() {
    return { pid: process.pid, startedAt: startOf(process.pid) ?? '', world: world() };
}
/** Undefined when it cannot be told from here: the process runs on another host or in another container. */
export function isAlive({ pid, startedAt, world: theirs }) {
    if (theirs !== world())
        return undefined;
    const start = startOf(pid);
    if (start !== undefined)
        return start === startedAt;
    if (process.platform === 'linux')
        return false;
    // Without /proc a number may be somebody else's by now, so a live one proves nothing.
    return exists(pid) ? undefined : false;
}
let known;
/** One boot of one host, and one space of process numbers in it. */
function world() {
    known ??= process.platform === 'linux' ? `${bootId()} ${readlinkSync('/proc/self/ns/pid')}` : hostname();
    return known;
}
const bootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
/** When the process began, in ticks since the boot; undefined when it does not live, or on systems without /proc. */
function startOf(pid) {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        // The command's name stands in parentheses and may hold anything, so fields count from the last one.
        const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state === 'Z' ? undefined : fields[18];
    }
    catch {
        return undefined;
    }
}
function exists(pid) {
    try {
        process.kill(pid, 0);
        return true;
    }
    catch (error) {
        return error.code === 'EPERM';
    }
}
