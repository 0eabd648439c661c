/** A text as a `binary` field takes it. */
export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
