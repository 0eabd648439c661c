import * as z from 'zod';
import type { HttpDoor, Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

/** Runs an operation of the table, like `runOperation`. */
export type RunOperation = (name: string, form: unknown, signal: AbortSignal) => AsyncIterable<unknown>;

/** An operation that callers with full access run over HTTP. */
export type HttpOperation = HttpDoor & {
  readonly name: string;
  /** Request, with `confirm` if the operation destroys. */
  readonly form: z.ZodObject;
};

/** Operations over HTTP, by name. */
export const HTTP_OPERATIONS: ReadonlyMap<string, HttpOperation> = new Map(
  Object.entries(OPERATIONS).flatMap(([name, operation]) => {
    const { form, http } = operation as unknown as Operation<z.ZodObject, unknown>;
    if (http === undefined) return [];
    return [[name, { ...http, name, form: http.destroys === true ? confirmed(form, name) : form }]];
  }),
);

/** An operation as programs see it: its request is a JSON Schema. */
export type DescribedOperation = Omit<HttpOperation, 'form'> & { readonly form: object };

/** Describes the operations over HTTP. */
export function describeOperations(): readonly DescribedOperation[] {
  return [...HTTP_OPERATIONS.values()].map(({ form, ...operation }) => {
    const { $schema: _, ...schema } = z.toJSONSchema(form, { io: 'input' });
    return { ...operation, form: schema };
  });
}

function confirmed(form: z.ZodObject, name: string): z.ZodObject {
  return form.extend({
    confirm: z.literal(name, {
      error: `must be "${name}", as the operation removes or replaces what is stored`,
    }),
  });
}
