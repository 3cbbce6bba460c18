import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { digest, makeFolder, writeWhole } from './cache.js';
import { AuthenticationFailed, CommitRefused, firstLine, OutOfDate, PathNotFound, RepositoryUnreachable, RevisionNotFound, ToolFailed, } from './errors.js';
import { nameOf, remedyOfAbsence } from './session.js';
import { runTool, streamTool } from './tool.js';
import { readVersion } from './tool-version.js';
import { readElements } from './xml.js';
const OLDEST = '1.10'; // --password-from-stdin, revert --remove-added
// A configuration of our own: nothing is ignored or given properties because of what a user once set, no password is
// looked for or kept, and the only tunnel that svn knows by itself asks no questions.
const CONFIG = `[miscellany]
global-ignores =
enable-auto-props = no
[auth]
password-stores =
store-passwords = no
store-auth-creds = no
[tunnels]
ssh = ssh -q -o BatchMode=yes
`;
const SERVERS = `[global]
store-passwords = no
store-plaintext-passwords = no
store-auth-creds = no
http-timeout = 60
`;
/** The output of one `svn` or `svnmucc`. */
export async function runSvn(session, [program, ...args], limits = {}) {
    const call = await prepare(session, program, args, limits);
    try {
        return await runTool(call, limits.maxBytes);
    }
    catch (error) {
        throw translate(session, error);
    }
}
/** What `svn` writes, piece by piece, however long it is. */
export async function* streamSvn(session, args) {
    const call = await prepare(session, 'svn', args, {});
    try {
        yield* streamTool(call);
    }
    catch (error) {
        throw translate(session, error);
    }
}
/** The elements of those names in the XML that `svn` writes. */
export async function* readSvn(session, args, names) {
    const call = await prepare(session, 'svn', [...args.slice(0, 1), '--xml', ...args.slice(1)], {});
    try {
        yield* readElements(streamTool(call), names);
    }
    catch (error) {
        throw translate(session, error);
    }
}
async function prepare(session, program, args, limits) {
    const { credentials, environment, folder, signal } = session;
    await readVersion(program, environment, OLDEST);
    const config = await writeConfig(folder);
    const secrets = credentials ? ['--username', credentials.username, '--password-from-stdin'] : [];
    const always = ['--non-interactive', '--no-auth-cache', '--config-dir', config, ...secrets];
    // svnmucc takes its options before the actions, svn takes them anywhere behind the command.
    const ordered = program === 'svn' ? [...args.slice(0, 1), ...always, ...args.slice(1)] : [...always, ...args];
    return {
        program,
        args: ordered,
        env: { ...environment, HOME: config },
        ...(credentials ? { input: `${credentials.password}\n` } : {}),
        silenceMs: limits.silenceMs ?? session.answerMs,
        signal,
    };
}
/** The folder with the configuration; its name tells its content, so that another version of it is another folder. */
async function writeConfig(folder) {
    const config = join(folder, `config-${digest(CONFIG + SERVERS)}`);
    try {
        await access(join(config, 'servers'));
    }
    catch {
        await makeFolder(config);
        await writeWhole(join(config, 'config'), CONFIG);
        await writeWhole(join(config, 'servers'), SERVERS);
    }
    return config;
}
// From the particular to the general: the first line often says only that something could not be done, with the reason
// below it, so the whole text is looked at.
const RULES = [
    [/E215004|E170001|E175013|E170013[\s\S]*E215/, AuthenticationFailed, 'the repository refuses access'],
    [/E165001/, CommitRefused, 'a hook of the repository refuses the commit'],
    [
        /E155011|E160028|E170004|E160024|E160020|E175005|E175014|E160013[^\n]*transaction/,
        OutOfDate,
        'the commit is out of date',
    ],
    [/E160006/, RevisionNotFound, 'the revision does not exist'],
    [/[EW]160013|W170000|E170000|E175007|E145000|E160016|[EW]195007/, PathNotFound, 'the path does not exist'],
    [
        /E170013|E180001|E210005|E210002|E000(101|104|110|111|113)|E6700\d\d|E120\d\d\d|E175\d\d\d|E170011|E230001/,
        RepositoryUnreachable,
        'the repository cannot be reached',
    ],
];
/** The class for what Subversion's error numbers say; what has none stays as it is. */
function translate(session, error) {
    if (!(error instanceof ToolFailed))
        return error;
    for (const [codes, Class, message] of RULES) {
        if (codes.test(error.stderr)) {
            const remedy = Class === RepositoryUnreachable ? remedyOfAbsence(session, 'svn') : undefined;
            const detail = reason(error.stderr);
            return new Class(`${nameOf(session)}: ${message}`, { detail, cause: error, ...(remedy && { remedy }) });
        }
    }
    return error;
}
/** What a commit was made from is known to have existed: when the server misses it, others have removed it since. */
export async function committing(run) {
    try {
        return await run();
    }
    catch (error) {
        if (!(error instanceof PathNotFound))
            throw error;
        const { detail = '' } = error;
        throw new OutOfDate('the commit is out of date', { detail, cause: error });
    }
}
/** The line that says why: of "unable to connect" and the lines below it the last one, of a hook what it said. */
function reason(stderr) {
    const hook = /E165001: [^\n]*with output:\n(?<said>[\s\S]+)/.exec(stderr)?.groups?.['said'];
    if (hook)
        return hook.trim().slice(0, 500);
    const errors = stderr.split('\n').filter((line) => /: [EW]\d{6}: /.test(line));
    const [first = ''] = errors;
    return firstLine(/E170013/.test(first) ? (errors.at(-1) ?? first) : first || stderr);
}
