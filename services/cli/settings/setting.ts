import { z } from 'zod';

/**
 * A setting of a command: an option and an environment variable, see variableOf; the option wins. Every value arrives as text, so
 * that both are validated alike.
 */
export type Setting = {
  /** As commander reads it: `--port <number>`; the name in camel case is the key. */
  readonly flags: string;
  readonly description: string;
  readonly schema: z.ZodType;
};

/** `--read-index-user <name>` is VARVE_READ_INDEX_USER too. */
export function variableOf({ flags }: Pick<Setting, 'flags'>): string {
  const [option = ''] = flags.split(' ');
  return option.replace(/^--/, 'VARVE_').replaceAll('-', '_').toUpperCase();
}

export const folder = z
  .string({ error: 'is missing: a folder is needed' })
  .min(1, 'is empty: a folder is needed');

export const yesOrNo = z.stringbool({
  truthy: ['true', '1', ''],
  falsy: ['false', '0'],
  error: 'is neither true nor false',
});

export function wholeNumber(min: number, max: number) {
  const message = `is not a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message));
}
