// The programs `svn`, `svnmucc` and `git` run here and nowhere else. Arguments are an array and never pass a shell. Each
// program leads a process group of its own, so that its helpers (git-remote-http, ssh, hooks of a local repository) end
// with it.
import { spawn } from 'node:child_process';
import { ToolFailed, ToolMissing, ToolTimedOut } from './errors.js';
const GRACE_MS = 2_000; // svn and git need milliseconds to remove their locks
const GONE_MS = 5_000; // after KILL only a process that left the group can hold the pipes
const STDERR_BYTES = 64 * 1024;
const OUTPUT_BYTES = 64 * 1024 * 1024; // of answers that are kept in memory; long ones are streamed
/** Thrown by `runTool` when the program says more than the caller allowed. */
export class OutputTooLarge extends Error {
}
/**
 * What the program writes to its output, piece by piece. Throws `ToolFailed` after the last piece when its exit status
 * is not 0. Whoever stops reading, aborts or waits in vain leaves no process behind.
 */
export async function* streamTool(call) {
    call.signal?.throwIfAborted();
    const child = spawn(call.program, call.args, {
        cwd: '/',
        detached: true,
        env: { ...call.env },
        stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const running = watch(child, call);
    const abort = () => void running.end();
    call.signal?.addEventListener('abort', abort, { once: true });
    let isOver = false;
    try {
        const pieces = child.stdout?.[Symbol.asyncIterator]();
        for (;;) {
            // A program that could not be started breaks its pipes first; `closed` knows the reason.
            const next = await running.timed(async () => pieces?.next().catch(() => running.closed.then(() => undefined)));
            if (!next || next.done)
                break;
            yield next.value;
        }
        const { exitCode, stderr } = await running.timed(() => running.closed);
        isOver = true;
        call.signal?.throwIfAborted();
        if (exitCode !== 0)
            throw new ToolFailed(call.program, exitCode, stderr);
    }
    finally {
        call.signal?.removeEventListener('abort', abort);
        if (!isOver)
            await running.end();
        call.signal?.throwIfAborted();
    }
}
/** All the program writes to its output; `OutputTooLarge` when that is more than `maxBytes`. */
export async function runTool(call, maxBytes = OUTPUT_BYTES) {
    const pieces = [];
    let size = 0;
    for await (const piece of streamTool(call)) {
        size += piece.length;
        if (size > maxBytes)
            throw new OutputTooLarge(`${call.program} says more than ${maxBytes} bytes`);
        pieces.push(piece);
    }
    return Buffer.concat(pieces);
}
function watch(child, { program, input, silenceMs }) {
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text) => {
        stderr = (stderr + text).slice(-STDERR_BYTES);
    });
    // A program that ends before it has read everything is judged by its exit status.
    child.stdin?.on('error', () => { });
    if (input !== undefined)
        child.stdin?.end(input);
    let giveUp = () => { };
    const closed = new Promise((resolve, reject) => {
        child.once('error', (error) => {
            reject(error.code === 'ENOENT' ? missing(program) : error);
        });
        child.once('close', (exitCode) => resolve({ exitCode, stderr }));
        giveUp = () => resolve({ exitCode: null, stderr });
    });
    closed.catch(() => { }); // it is awaited in the end; until then a failed start is no unhandled rejection
    const end = async () => {
        // Nobody reads on, and a pipe that is neither read nor destroyed never counts as closed.
        child.stdout?.destroy();
        signalGroup(child, 'SIGTERM');
        if (await within(closed, GRACE_MS))
            return signalGroup(child, 'SIGKILL');
        signalGroup(child, 'SIGKILL');
        if (await within(closed, GONE_MS))
            return;
        child.stderr?.destroy();
        giveUp();
    };
    const timed = async (wait) => {
        let timer;
        const late = new Promise((_, reject) => {
            timer = setTimeout(() => {
                reject(new ToolTimedOut(`${program} said nothing for ${Math.round(silenceMs / 1000)} s and was killed`));
            }, silenceMs);
        });
        try {
            return await Promise.race([wait(), late]);
        }
        finally {
            clearTimeout(timer);
        }
    };
    return { closed, end, timed };
}
async function within(closed, limitMs) {
    let timer;
    const late = new Promise((resolve) => {
        timer = setTimeout(() => resolve(false), limitMs);
    });
    const ended = closed.then(() => true, () => true);
    try {
        return await Promise.race([ended, late]);
    }
    finally {
        clearTimeout(timer);
    }
}
function signalGroup(child, signal) {
    if (child.pid === undefined)
        return;
    try {
        process.kill(-child.pid, signal);
    }
    catch {
        // Nobody of the group is left.
    }
}
/** What to install when the program is not found. */
export function missing(program) {
    const name = program === 'git' ? 'git' : 'subversion';
    return new ToolMissing(`${program} is not installed`, { remedy: `install it: sudo apt-get install ${name}` });
}
