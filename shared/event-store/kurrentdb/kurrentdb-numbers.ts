import { MAX_INT64 } from '../event-codec.ts';
import type { EndPoint } from './kurrentdb-address.ts';

/**
 * Numbers of the protocol. It carries them as unsigned 64 bits, and servers use values above 2^63 as marks: 18446744073709551615 is "none".
 * Each number is checked where it enters.
 */

type Given = string | bigint | undefined;

/** Returns the position or revision of a report, such as a checkpoint; undefined if the server reports none. */
export function reportedNumber(given: Given): bigint | undefined {
  const value = BigInt(given ?? -1n);
  return value >= 0n && value <= MAX_INT64 ? value : undefined;
}

/** Returns the position or revision (`what`) of a stored event. Throws if it cannot be one. */
export function storedNumber(given: Given, what: 'position' | 'revision', stream: string): bigint {
  const value = reportedNumber(given);
  if (value !== undefined) return value;
  throw new Error(`the server returns ${given ?? 'nothing'} as the ${what} of an event of ${stream}`);
}

/** Returns a size in bytes that a server names; undefined if it cannot be one. */
export function reportedSize(given: unknown): number | undefined {
  return typeof given === 'number' && Number.isSafeInteger(given) && given > 0 ? given : undefined;
}

/** Returns the node that a server names; undefined if its address or port cannot be one. */
export function reportedNode(address: string | undefined, port: number | undefined): EndPoint | undefined {
  const isPort = port !== undefined && Number.isInteger(port) && port > 0 && port < 65_536;
  return address !== undefined && address !== '' && isPort ? { address, port } : undefined;
}
