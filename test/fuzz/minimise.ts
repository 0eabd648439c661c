import type { FuzzInput } from './requests.ts';

const MOST_TRIES = 200;

/** Removes pieces of a request, and returns the shortest request that still has a fault. Pairs stay as they are. */
export async function minimise(
  input: FuzzInput,
  faultOf: (input: FuzzInput) => Promise<string | undefined>,
): Promise<FuzzInput> {
  if (input.kind === 'probe' || (await faultOf(input)) === undefined) return input;
  let smallest = input;
  let tries = 0;
  for (
    let size = Math.ceil(input.bytes.length / 2);
    size >= 1 && tries < MOST_TRIES;
    size = Math.floor(size / 2)
  ) {
    for (let at = 0; at < smallest.bytes.length && tries < MOST_TRIES; ) {
      const { bytes } = smallest;
      const smaller = {
        ...smallest,
        bytes: Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + size)]),
      };
      tries += 1;
      // The server would wait for the rest of an incomplete request.
      if (isWhole(smaller) && (await faultOf(smaller)) !== undefined) smallest = smaller;
      else at += size;
    }
  }
  return smallest;
}

function isWhole({ kind, bytes }: FuzzInput): boolean {
  if (kind === 'bytes') return bytes.length > 0;
  const text = Buffer.from(bytes).toString('latin1');
  const length = Number(/^content-length: (\d+)\r$/im.exec(text)?.[1] ?? 0);
  const head = text.indexOf('\r\n\r\n');
  return / HTTP\/1\.1\r\nHost: /.test(text) && head !== -1 && text.length === head + 4 + length;
}
