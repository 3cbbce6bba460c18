import { ToolMissing } from './errors.js';
import { runTool } from './tool.js';
const known = new Map();
/** The version of a program, asked once. Throws `ToolMissing` when it is not there or older than `oldest`. */
export async function readVersion(program, env, oldest) {
    const key = `${program}\0${env['PATH']}`;
    let asked = known.get(key);
    if (!asked) {
        asked = ask(program, env);
        known.set(key, asked);
        asked.catch(() => known.delete(key)); // it may be installed meanwhile
    }
    const version = await asked;
    if (isOlder(version, oldest)) {
        throw new ToolMissing(`${program} ${version} is too old`, { remedy: `install ${program} ${oldest} or newer` });
    }
    return version;
}
async function ask(program, env) {
    const said = await runTool({ program, args: ['--version'], env, silenceMs: 10_000 });
    return /\d+\.\d+(\.\d+)?/.exec(said.toString('utf8'))?.[0] ?? '0.0';
}
function isOlder(version, oldest) {
    const [a = 0, b = 0] = version.split('.').map(Number);
    const [c = 0, d = 0] = oldest.split('.').map(Number);
    return a < c || (a === c && b < d);
}
