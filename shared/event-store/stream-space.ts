/** Returns the namespace of a stream: its name up to the first dot. */
export function spaceOf(stream: string): string {
  return stream.slice(0, Math.max(0, stream.indexOf('.')));
}

/** SQL expression for `spaceOf`. */
export const SPACE_OF_STREAM = "substr(stream, 1, instr(stream, '.') - 1)";

/** Throws if the stream is not in the namespace. */
export function assertInSpace(stream: string, space: string): void {
  if (!stream.startsWith(`${space}.`))
    throw new TypeError(
      `stream ${stream} is not in the namespace ${space}: its subscribers would not see the events`,
    );
}
