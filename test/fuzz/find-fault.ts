import { SECRETS } from './leaks.ts';
import type { FuzzInput, Pair } from './requests.ts';
import type { WireAnswer, WireClient } from './wire-client.ts';

const PAIR_TRIES = 20;

/** Sends an input. Returns the fault of the answer, or undefined if it has none. Calls `seen` with the answer to a request. */
export async function findFault(
  client: WireClient,
  input: FuzzInput,
  seen?: (answer: WireAnswer) => void,
): Promise<string | undefined> {
  if (input.kind === 'bytes') {
    const answers = await client.throwIn(input.bytes);
    // A server ignores empty lines before a request (RFC 9112 section 2.2).
    if (answers.length === 0) return input.bytes.some(isNoLineEnd) ? 'no answer' : undefined;
    return answers
      .map((answer) => faultOf(answer, input.caller !== 'full'))
      .find((fault) => fault !== undefined);
  }
  const answer = await client.ask(input.bytes, input.method);
  seen?.(answer);
  const fault = faultOf(answer, input.caller !== 'full');
  if (fault !== undefined || input.pair === undefined) return fault;
  const ask = () => client.ask(input.bytes, input.method);
  return faultOfPair(client, answer, ask, input.pair);
}

function isNoLineEnd(byte: number): boolean {
  return byte !== 10 && byte !== 13;
}

function faultOf(answer: WireAnswer, isSecret: boolean): string | undefined {
  if (answer.kind === 'cut') return `no answer: ${answer.why}`;
  // Varve says so of sign-ins that it does not serve, whatever the request.
  const isRefused = answer.status === 501 && /"(provider|login)-not-served"/.test(answer.body);
  if (!(answer.status >= 200 && answer.status < 500) && !isRefused)
    return `status ${answer.status}: ${answer.body.slice(0, 300)}`;
  const text = answer.head + answer.body;
  const secret = isSecret ? Object.values(SECRETS).find((each) => text.includes(each)) : undefined;
  return secret === undefined ? undefined : `reveals ${secret}: ${answer.body.slice(0, 300)}`;
}

/** Compares two answers. Other requests write meanwhile, so they only differ if the first is the same before and after the second. */
async function faultOfPair(
  client: WireClient,
  answer: WireAnswer,
  askAgain: () => Promise<WireAnswer>,
  { bytes, name, other, isRepeated }: Pair,
): Promise<string | undefined> {
  let first = comparable(answer, name, isRepeated);
  for (let tries = 0; tries < PAIR_TRIES; tries++) {
    const second = comparable(await client.ask(bytes, 'GET'), other, isRepeated);
    if (second === first) return undefined;
    const again = comparable(await askAgain(), name, isRepeated);
    if (again === first) return `tells ${name} from nothing: ${first.slice(-300)} | ${second.slice(-300)}`;
    first = again;
  }
  return `the answers about ${name} changed ${PAIR_TRIES} times meanwhile`;
}

/**
 * Returns the answer that a caller sees, without the parts that differ between two equal answers, such as the date. The asked name is
 * removed only from answers that repeat it: elsewhere, a random documentId may contain it by chance.
 */
function comparable(answer: WireAnswer, name: string, isRepeated = false): string {
  if (answer.kind === 'cut') return answer.why;
  const head = answer.head.replace(/^(date|x-request-id|varve-position): .*$/gim, '');
  if (isRepeated) {
    const length = /^(content-length|etag): .*$/gim;
    const body = answer.body.replace(/"processingTimeMS":\d+/g, '');
    // The name as a whole word, also inside a query string.
    const word = new RegExp(`(?<![a-z0-9])${name}(?![a-z0-9])`, 'gi');
    return `${head.replace(length, '')}\n${body.replace(/%[0-9a-f]{2}/gi, ' ')}`.replace(word, '?');
  }
  const text = `${head}\n${answer.body}`;
  return answer.status < 300 ? text : text.replaceAll(name, '?');
}
