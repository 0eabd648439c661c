import { z } from 'zod';
import { durationMs } from '../../../shared/duration.ts';

/**
 * A setting of a command: an option and an environment variable, see variableOf; the option wins. Every value arrives as text, so that both
 * are validated alike.
 */
export type Setting = {
  /** Flags in commander's form: `--port <number>`; the name in camel case is the key. */
  readonly flags: string;
  readonly description: string;
  readonly schema: z.ZodType;
  /** True: the option may be given several times. Its values are joined with commas. */
  readonly isRepeated?: true;
  /** True: the value is a secret, which nobody is shown. */
  readonly isSecret?: true;
};

/** Returns the environment variable of a setting: VARVE_READ_INDEX_USER for `--read-index-user <name>`. */
export function variableOf({ flags }: Pick<Setting, 'flags'>): string {
  const [option = ''] = flags.split(' ');
  return option.replace(/^--/, 'VARVE_').replaceAll('-', '_').toUpperCase();
}

export const folder = z.string({ error: 'is missing: pass a folder' }).min(1, 'is empty: pass a folder');

export const file = z.string().min(1, 'is empty: pass a file');

export const httpAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

export const yesOrNo = z
  .stringbool({ truthy: ['true', '1', ''], falsy: ['false', '0'], error: 'must be true or false' })
  .meta({ type: 'boolean' });

/** Schema of a duration such as `30s`, in milliseconds. */
export const duration = z
  .string()
  .regex(/^\d{1,9}(ms|s|m|h)$/, 'must be a duration such as 500ms, 30s or 5m')
  .transform(durationMs);

/** Schema of a setting that has one of these values. */
export function choice<const Values extends readonly string[]>(...values: Values) {
  const error =
    values.length === 2 ? `must be ${values.join(' or ')}` : `must be one of ${values.join(', ')}`;
  return z.enum(values, { error });
}

/** Schema of a setting in decimal digits, both bounds included. */
export function wholeNumber(min: number, max: number) {
  const message = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.number().min(min, message).max(max, message))
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** Settings of a command, by name. */
export type SettingsTable = Readonly<Record<string, Setting>>;

/** The values of a table's settings, by name. */
export type SettingsOf<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: z.output<Table[Name]['schema']>;
};
