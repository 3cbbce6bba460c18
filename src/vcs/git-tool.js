import { realpathSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { digest, makeFolder, writeWhole } from './cache.js';
import { AuthenticationFailed, BranchNotFound, CommitRefused, firstLine, OutOfDate, RepositoryUnreachable, ToolFailed, } from './errors.js';
import { nameOf, remedyOfAbsence } from './session.js';
import { runTool, streamTool } from './tool.js';
import { readVersion } from './tool-version.js';
const OLDEST = '2.35'; // GIT_CONFIG_COUNT, GIT_CONFIG_GLOBAL, safe.directory
export const mirrorOf = (folder) => join(folder, 'mirror.git');
/** The output of one git command on the mirror. */
export async function runGit(session, args, call = {}) {
    const prepared = await prepare(session, args, call);
    try {
        return await runTool(prepared, call.maxBytes);
    }
    catch (error) {
        throw translate(session, error);
    }
}
export async function* streamGit(session, args, call = {}) {
    const prepared = await prepare(session, args, call);
    try {
        yield* streamTool(prepared);
    }
    catch (error) {
        throw translate(session, error);
    }
}
/** What ends with NUL, piece by piece. Names that are not UTF-8 are shown as such text can be. */
export async function* readFields(pieces) {
    let rest = Buffer.alloc(0);
    for await (const piece of pieces) {
        const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
        let from = 0;
        for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, from)) {
            yield bytes.toString('utf8', from, at);
            from = at + 1;
        }
        rest = bytes.subarray(from);
    }
    if (rest.length > 0)
        yield rest.toString('utf8');
}
async function prepare(session, args, call) {
    const { environment, folder, location, signal } = session;
    await readVersion('git', environment, OLDEST);
    const home = await writeConfig(session);
    return {
        program: 'git',
        args: [`--git-dir=${call.gitDir ?? mirrorOf(folder)}`, ...args],
        env: {
            ...environment,
            ...configuration(session),
            HOME: home,
            GIT_CONFIG_NOSYSTEM: '1',
            GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
            GIT_ATTR_NOSYSTEM: '1',
            GIT_TERMINAL_PROMPT: '0',
            GIT_ALLOW_PROTOCOL: location.scheme,
            GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
            GIT_LITERAL_PATHSPECS: '1',
            GIT_NO_REPLACE_OBJECTS: '1',
            ...call.env,
        },
        ...(call.input === undefined ? {} : { input: call.input }),
        silenceMs: call.silenceMs ?? session.answerMs,
        signal,
    };
}
/**
 * Settings that go with the command alone: git takes them from its own environment and does not hand them to the program
 * at the other end of a local repository. So hooks are off here and on there, as with any other client.
 */
function configuration({ location, credentials }) {
    const settings = [
        ['core.hooksPath', '/dev/null'],
        ['core.fsmonitor', 'false'],
        ['core.attributesFile', '/dev/null'],
        ['core.excludesFile', '/dev/null'],
        ['core.autocrlf', 'false'],
        ['core.symlinks', 'true'],
        ['core.protectHFS', 'true'],
        ['core.protectNTFS', 'true'],
        ['core.logAllRefUpdates', 'false'],
        ['credential.helper', ''],
        ['gc.auto', '0'],
        ['maintenance.auto', 'false'],
        ['fetch.writeCommitGraph', 'true'],
        ['submodule.recurse', 'false'],
    ];
    if (credentials) {
        const { username, password } = credentials;
        const basic = Buffer.from(`${username}:${password}`).toString('base64');
        // For this URL only, and never carried on to where a server redirects.
        settings.push([`http.${location.url}.extraHeader`, `Authorization: Basic ${basic}`]);
        settings.push(['http.followRedirects', 'false']);
    }
    const named = settings.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
    ]);
    return Object.fromEntries([['GIT_CONFIG_COUNT', String(settings.length)], ...named]);
}
/**
 * The configuration that also the other end of a local repository reads. It says that this one repository may be used
 * although its files are another user's: whoever registered it has decided that.
 */
async function writeConfig({ folder, location }) {
    const places = location.scheme === 'file' ? ownPlaces(location.url) : [];
    const text = places.map((place) => `[safe]\n\tdirectory = "${place.replace(/["\\]/g, '\\$&')}"\n`).join('');
    const home = join(folder, `config-${digest(text)}`);
    try {
        await access(join(home, 'gitconfig'));
    }
    catch {
        await makeFolder(home);
        await writeWhole(join(home, 'gitconfig'), text);
    }
    return home;
}
function ownPlaces(path) {
    const real = realpathOf(path);
    return [...new Set([path, real])].flatMap((place) => [place, `${place}/.git`]);
}
function realpathOf(path) {
    try {
        return realpathSync(path);
    }
    catch {
        return path; // it may come later
    }
}
const RULES = [
    [
        /authentication failed|could not read (username|password)|returned error: 40[13]|permission denied \(/i,
        AuthenticationFailed,
        'the repository refuses access',
    ],
    [
        /refusing to update checked out branch|branch is currently checked out/i,
        CommitRefused,
        'the branch is checked out',
    ],
    [/hook declined|pre-receive|protected branch/i, CommitRefused, 'a hook of the repository refuses the commit'],
    [
        /\[(remote )?rejected\].*(stale info|fetch first|non-fast-forward|failed to (update|lock)|cannot lock|incorrect old|reference already exists)|failed to update ref|incorrect old value/i,
        OutOfDate,
        'the commit is out of date',
    ],
    [/\[remote rejected\]/i, CommitRefused, 'the repository refuses the commit'],
    [/couldn't find remote ref/i, BranchNotFound, 'the branch does not exist'],
    [
        /could not resolve|failed to connect|couldn't connect|connection (refused|timed out|reset)|unable to (access|connect)|does not appear to be a git repository|repository .*not found|could not read from remote|remote end hung up|the remote end|dubious ownership|not exported|early EOF|network is unreachable|no route to host/i,
        RepositoryUnreachable,
        'the repository cannot be reached',
    ],
];
/** The class for what git says; what says nothing known stays as it is. */
function translate(session, error) {
    if (!(error instanceof ToolFailed))
        return error;
    const said = error.stderr;
    for (const [words, Class, message] of RULES) {
        if (!words.test(said))
            continue;
        const hook = Class === CommitRefused ? whatServerSaid(said) : '';
        const detail = hook || firstLine(said.split('\n').find((line) => words.test(line)) ?? said);
        const absence = Class === RepositoryUnreachable ? remedyOfAbsence(session, 'git') : undefined;
        const remedy = absence === undefined ? remedyFor(words) : { remedy: absence, ...remedyFor(words) };
        return new Class(`${nameOf(session)}: ${message}`, { detail, cause: error, ...remedy });
    }
    return error;
}
/** What a hook at the other end wrote; git puts `remote: ` before each line. */
function whatServerSaid(stderr) {
    const lines = stderr.split('\n').filter((line) => line.startsWith('remote: '));
    return lines
        .map((line) => line.slice('remote: '.length).trim())
        .join('\n')
        .trim()
        .slice(0, 500);
}
function remedyFor(words) {
    return /checked out/.test(words.source) ? { remedy: 'give the URL of a bare repository' } : {};
}
