import type { FuzzInput, Pair } from './inputs.ts';
import { SECRETS } from './leaks.ts';
import type { WireAnswer, WireClient } from './wire-client.ts';

/** Sends an input and says what is wrong with the answer; undefined: nothing. */
export async function judge(client: WireClient, input: FuzzInput): Promise<string | undefined> {
  if (input.kind === 'bytes') {
    const answers = await client.throwIn(input.bytes);
    // RFC 9112 section 2.2: empty lines before a request are nothing.
    if (answers.length === 0) return input.bytes.some(isNoLineEnd) ? 'no answer' : undefined;
    return answers
      .map((answer) => faultOf(answer, input.caller !== 'full'))
      .find((fault) => fault !== undefined);
  }
  const answer = await client.ask(input.bytes, input.method);
  const fault = faultOf(answer, input.caller !== 'full');
  if (fault !== undefined || input.pair === undefined) return fault;
  return faultOfPair(client, answer, input.pair);
}

function isNoLineEnd(byte: number): boolean {
  return byte !== 10 && byte !== 13;
}

function faultOf(answer: WireAnswer, isSecret: boolean): string | undefined {
  if (answer.kind === 'cut') return `no answer: ${answer.why}`;
  if (!(answer.status >= 200 && answer.status < 500))
    return `status ${answer.status}: ${answer.body.slice(0, 300)}`;
  const text = answer.head + answer.body;
  const told = isSecret ? Object.values(SECRETS).find((secret) => text.includes(secret)) : undefined;
  return told === undefined ? undefined : `tells ${told}: ${answer.body.slice(0, 300)}`;
}

async function faultOfPair(
  client: WireClient,
  answer: WireAnswer,
  { bytes, name, other }: Pair,
): Promise<string | undefined> {
  const first = comparable(answer, name);
  const second = await client.ask(bytes, 'GET');
  if (comparable(second, other) === first) return undefined;
  return `tells ${name} from nothing: ${first.slice(-300)} | ${comparable(second, other).slice(-300)}`;
}

/** What a caller sees, without what differs between two equal answers. */
function comparable(answer: WireAnswer, name: string): string {
  if (answer.kind === 'cut') return answer.why;
  const head = answer.head.replace(/^(date|x-request-id|varve-position): .*$/gim, '');
  return `${head}\n${answer.body}`.replaceAll(name, '?');
}
