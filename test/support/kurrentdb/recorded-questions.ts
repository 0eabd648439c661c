import { readFileSync } from 'node:fs';

/** A question to a real server and its answer, as test/support/kurrentdb/recorded has them: messages in the order in which they came. */
export type RecordedQuestion = {
  readonly server: string;
  readonly scenario: string;
  readonly ask: Readonly<Record<string, unknown>>;
  readonly got: unknown;
};

export const readRecorded = (version: string): readonly RecordedQuestion[] =>
  readFileSync(new URL(`recorded/${version}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedQuestion);

/**
 * Members that are not compared: trailers of the transport, which say nothing about the server, and `more`, which counts messages that the
 * recording omits. `expectedRevision2060` of "no stream" is a number that the generated classes cannot send.
 */
const OMITTED = new Set([
  'grpc-encoding',
  'content-length',
  'content-type',
  'date',
  'server',
  'ms',
  'more',
  'expectedRevision2060',
]);
const POSITIONS = new Set(['commit', 'prepare', 'commitPosition', 'preparePosition', 'position']);
const CHANGING = new Set(['subscriptionId', 'created', 'timestamp', 'correlationId', 'leader-endpoint-port']);
const NONE = '18446744073709551615';

/**
 * Returns an answer without what differs from run to run: positions, ids and times. Kinds of messages, their order, codes, texts and which
 * fields are present stay.
 */
export const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return withoutRepeatedCheckpoints(value.map(comparable).filter(hasContent));
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? textOf(value) : value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (OMITTED.has(name)) return [];
    if (name === 'trailers' && !hasContent(comparable(member))) return [];
    if (name === 'value') return [[name, textOf(Buffer.from(String(member), 'base64').toString('latin1'))]];
    if (CHANGING.has(name)) return [[name, 'changes']];
    if (POSITIONS.has(name) && typeof member === 'string')
      return [[name, member === '0' || member === NONE ? member : 'a position']];
    if (name === 'grpc-status-details-bin') return [[name, detailsOf(member)]];
    if (name === 'streamName') return [[name, textOf(Buffer.from(String(member), 'base64').toString())]];
    return [[name, comparable(member)]];
  });
  return Object.fromEntries(entries);
};

const hasContent = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || Object.keys(value).length > 0;

/** A server reports its progress after so many records, which depends on what else it stores. */
const withoutRepeatedCheckpoints = (messages: readonly unknown[]): readonly unknown[] =>
  messages.filter((message, n) => {
    const next = messages[n + 1];
    return !(isProgress(message) && isProgress(next));
  });

const isProgress = (message: unknown): boolean => {
  const { checkpoint } = (message ?? {}) as { checkpoint?: { commitPosition: string } };
  return checkpoint?.commitPosition === 'a position';
};

const textOf = (text: string): string =>
  text
    .replace(/\bs[0-9a-f]{6}\./g, 'space.')
    .replace(/\d{3,}/g, 'N')
    .replace(/\b127\.0\.0\.1:\S+/g, 'a node')
    .replace(/InvalidPosition >> .*/s, 'InvalidPosition >> …');

/** Names of the messages in the details, and the reason of google.rpc.ErrorInfo. */
const detailsOf = (member: unknown): readonly string[] => {
  const { base64 } = member as { base64: string };
  const bytes = Buffer.from(base64, 'base64').toString('latin1');
  return bytes.match(/type\.googleapis\.com\/[A-Za-z0-9.]+|[A-Z]{3,}(_[A-Z]+)+/g) ?? [];
};
