import { parseArgs } from 'node:util';
import { pageList, printComparison } from './print-comparison.ts';

/**
 * A program that loads the same pages from two front ends in a browser and prints the differences. One front end reads Strapi, and the
 * other one is the same but reads Varve. Exits with 1 if pages differ.
 *
 * `npm run compare-pages -- --strapi http://127.0.0.1:3000 --varve http://127.0.0.1:3001 --pages /,/blog`
 *
 * If the pages of both contain the same address of an API, `--api` names it, and `--strapi-api` and `--varve-api` replace it.
 */
const { values } = parseArgs({
  options: {
    strapi: { type: 'string' },
    varve: { type: 'string' },
    pages: { type: 'string', default: '/' },
    api: { type: 'string' },
    'strapi-api': { type: 'string' },
    'varve-api': { type: 'string' },
    same: { type: 'string', multiple: true, default: [] },
  },
});
const { strapi, varve } = values;
if (strapi === undefined || varve === undefined) {
  console.error('--strapi and --varve are needed: the addresses of the front end as it reads each of them');
  process.exit(2);
}
await printComparison({
  ...{ pages: pageList(values.pages), same: values.same, api: values.api },
  strapi: { url: strapi, api: values['strapi-api'] },
  varve: { url: varve, api: values['varve-api'] },
});
