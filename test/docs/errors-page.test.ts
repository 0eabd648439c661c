import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { errorStatus } from '../../services/http/answers/error-statuses.ts';
import { REFUSAL_RESPONSES } from '../../services/openapi/responses.ts';
import { type ErrorCode, OUTAGES, REFUSALS } from '../../shared/request-error.ts';

const PAGE = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

/** Returns the codes of a section, each with its status and name. */
function documented(heading: string): readonly (readonly [code: string, status: number, name: string])[] {
  const section = PAGE.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([a-z-]+)` \| (\d+) \| (\w+) \|/gm)].map(
    ([, code = '', status, name = '']) => [code, Number(status), name] as const,
  );
}

function withStatus(codes: readonly (typeof REFUSALS | typeof OUTAGES)[number][]) {
  return codes.map((code) => {
    const { status, name } = errorStatus(code);
    return [code, status, name] as const;
  });
}

it('documents each code with the status and the name that it is answered with', () => {
  const isOwn = (code: (typeof REFUSALS)[number]) => errorStatus(code).isOwn;
  expect(documented('Errors that Strapi has too')).toEqual(
    withStatus(REFUSALS.filter((code) => !isOwn(code))),
  );
  expect(documented('Errors of Varve')).toEqual(withStatus(REFUSALS.filter(isOwn)));
  expect(documented('Outages')).toEqual(withStatus(OUTAGES));
});

it('answers every outage with a 503 and its code', () => {
  expect(OUTAGES.map(errorStatus)).toEqual(
    OUTAGES.map(() => ({ status: 503, name: 'ServiceUnavailableError', isOwn: true })),
  );
});

it('has examples in the OpenAPI document with the status, name and code that are answered', () => {
  type Example = { readonly status: number; readonly name: string; readonly code?: ErrorCode };
  const examples = Object.values(REFUSAL_RESPONSES).map((response) => {
    const { content } = response as {
      readonly content: { 'application/json': { example: { error: Example } } };
    };
    return content['application/json'].example.error;
  });
  const answered = [...REFUSALS, ...OUTAGES].map((code) => {
    const { status, name, isOwn } = errorStatus(code);
    return { status, name, code: isOwn ? code : undefined };
  });
  expect(examples).toHaveLength(11);
  for (const { status, name, code } of examples) expect(answered).toContainEqual({ status, name, code });
});
