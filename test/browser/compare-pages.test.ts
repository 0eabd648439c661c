import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { comparePages } from '../front-ends/page-contents.ts';
import { type Browser, longInBrowser, openBrowser } from '../support/chromium.ts';
import { png } from '../support/upload-client.ts';

const skip = longInBrowser('comparisons of front ends');

/** Serves the pages of a front end, or the pictures of an API. */
async function serve(answers: { readonly [path: string]: string | Buffer }): Promise<string> {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    const type = typeof answer === 'string' ? 'text/html' : 'image/png';
    response
      .writeHead(answer === undefined ? 404 : 200, { 'content-type': type })
      .end(answer ?? 'Nothing is here');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const pageOf = (text: string, api: string) =>
  `<!doctype html><title>A page</title><p>${text}</p><a href="/more">More</a><img alt="Sun" src="${api}/sun.png">`;

describe('comparing pages of a front end', skip, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('finds texts, pictures and answers that differ, and nothing else', async () => {
    const [small, large] = [await serve({ '/sun.png': png(3, 2) }), await serve({ '/sun.png': png(4, 2) })];
    const strapi = await serve({
      '/': pageOf('Hello', small),
      '/a': pageOf('One', small),
      '/b': pageOf('B', small),
    });
    const varve = await serve({ '/': pageOf('Hello', small), '/a': pageOf('Two', large) });
    const pages = ['/', '/a', '/b'];
    const compared = await Array.fromAsync(
      comparePages(browser.context, {
        ...{ pages, strapi: { url: strapi }, varve: { url: varve }, same: [`${small}=${large}`] },
      }),
    );
    const [equal, different, missing] = compared;
    expect(equal).toEqual({ page: '/', differences: [], texts: 2, pictures: 1 });
    expect(different?.differences).toEqual([
      'texts: One with Strapi, Two with Varve',
      `pictures: ${small}/sun.png Sun 3 2 with Strapi, ${small}/sun.png Sun 4 2 with Varve`,
    ]);
    expect(missing?.differences[0]).toBe('status: 200 with Strapi, 404 with Varve');
  });

  it('sends requests for an address that both pages contain to the API of each', async () => {
    const [small, large] = [await serve({ '/sun.png': png(3, 2) }), await serve({ '/sun.png': png(4, 2) })];
    const api = 'http://api.invalid';
    const url = await serve({ '/': pageOf('Hello', api) });
    const compared = await Array.fromAsync(
      comparePages(browser.context, {
        ...{ pages: ['/'], same: [], api },
        ...{ strapi: { url, api: small }, varve: { url, api: large } },
      }),
    );
    expect(compared[0]?.differences).toEqual([
      `pictures: ${api}/sun.png Sun 3 2 with Strapi, ${api}/sun.png Sun 4 2 with Varve`,
    ]);
  });
});
