import { ALGOLIA_PARAMETERS, algoliaParameter } from '../../services/instant-search/algolia-parameters.ts';

const SECTIONS = [
  ['honoured', 'Honoured', 'They do what Algolia documents.'],
  ['ignored', 'Ignored', 'The same entries are found without them. The log names each once.'],
  [
    'refused',
    'Refused',
    'The answer is a 400 that says `not supported`, unless the parameter is switched off.',
  ],
] as const;

/** Returns docs/algolia-parameters.md, generated from the table of parameters. */
export function algoliaPage(): string {
  return [
    "# Algolia's search parameters",
    '',
    "For developers who come from Algolia. After it you know which parameters of a search Varve's protocol honours",
    '([search](search.md#instantsearch)). A parameter that is not here is a 400 `Unknown parameter`.',
    '',
    'This page is made from the table in `services/instant-search/algolia-parameters.ts`',
    '(`npx vitest run test/docs/algolia-page.test.ts -u` writes it).',
    ...SECTIONS.flatMap(([use, heading, what]) => [
      '',
      `## ${heading}`,
      '',
      what,
      '',
      `| parameter | ${use === 'honoured' ? 'what it chooses' : 'why'} |`,
      '|---|---|',
      ...Object.entries(ALGOLIA_PARAMETERS)
        .filter(([, parameter]) => parameter.use === use)
        .map(([name]) => `| \`${name}\` | ${algoliaParameter(name)?.note} |`),
    ]),
    '',
  ].join('\n');
}
