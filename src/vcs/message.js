import { InvalidChange } from './errors.js';
// Subversion keeps a marker beside the message, as the property `millrace:cause` of the revision. Git has no such place:
// there it is a trailer, the last line of the message. A message may itself hold lines of that form; the last one counts,
// and for commits made here that is always the true one.
const TRAILER = /^Millrace-([A-Za-z]+): ?(.*)$/;
const ANY_TRAILER = /^[A-Za-z0-9][A-Za-z0-9-]*: /;
const CONTROL = /\p{Cc}/u;
export const MARK_PREFIX = 'millrace:';
/** Throws unless the marker fits on one line. */
export function checkMarker(marker) {
    if (marker === '' || marker.length > 500 || CONTROL.test(marker) || marker.trim() !== marker) {
        throw new InvalidChange('a marker is one line of 1 to 500 characters without spaces around it');
    }
    return marker;
}
/** The message as both programs take it: lines end with a line feed, no other control characters but tabs. */
export function cleanMessage(message) {
    const lines = message.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');
    return lines.trimEnd();
}
/** The message with the marker as its last trailer, in the paragraph of the others when there is one. */
export function withTrailer(message, marker) {
    const text = cleanMessage(message);
    const paragraphs = text.split(/\n{2,}/);
    const last = paragraphs.at(-1)?.split('\n') ?? [];
    const endsInTrailers = paragraphs.length > 1 && last.every((line) => ANY_TRAILER.test(line));
    return `${text}${text === '' ? '' : endsInTrailers ? '\n' : '\n\n'}Millrace-Cause: ${marker}\n`;
}
/** What the trailers of ours say, by their names in lower case: `Millrace-Cause: x` is `cause: 'x'`. */
export function readTrailers(message) {
    const last = message
        .trimEnd()
        .split(/\n{2,}/)
        .at(-1) ?? '';
    const marks = {};
    for (const line of last.split('\n')) {
        const [, name, value] = TRAILER.exec(line) ?? [];
        if (name !== undefined && value !== undefined)
            marks[name.toLowerCase()] = value;
    }
    return marks;
}
/** Who a commit is by, from `Name <address>` or a name alone. */
export function readPerson(author) {
    const clean = author.replace(/\p{Cc}/gu, ' ').trim();
    const [, name = clean, email = ''] = /^(.*?)\s*<([^<>]*)>$/.exec(clean) ?? [];
    const plain = name.replace(/[<>]/g, '').trim();
    const address = email.trim() || `${plain.replace(/[^\w.-]+/g, '.') || 'nobody'}@localhost`;
    return { name: plain || address, email: address };
}
