/** Why the answer to a stored write has no entry. */
export type UnshownReason = { readonly code: string; readonly message: string };

const ANSWER_TOO_LATE: UnshownReason = Object.freeze({
  code: 'answer-unavailable',
  message: 'The write is stored, but its answer took too long: read the entry',
});

/** Returns the body of a 202. `data` names what was written. */
export function acceptedBody(
  data: unknown,
  position: bigint,
  reason: UnshownReason = ANSWER_TOO_LATE,
): string {
  return JSON.stringify({ data, meta: { position: String(position), reason } });
}
