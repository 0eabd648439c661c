import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { longInBrowser } from '../support/chromium.ts';
import { type ConsolePage, MARKUP, openConsole, REACTS } from '../support/console-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { uploadForm } from '../support/upload-client.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const TYPE = 'api::restaurant.restaurant';
const text = { type: 'text', text: MARKUP };
/** A value of every attribute type that can have text. */
const VALUES = {
  key: 'hostile',
  name: MARKUP,
  description: MARKUP,
  story: `# ${MARKUP}\n\n[x](javascript:window.hit=1)`,
  extra: { [MARKUP]: [MARKUP] },
  content: [
    {
      type: 'paragraph',
      children: [text, { type: 'link', url: `https://example.com/?${encodeURI(MARKUP)}`, children: [text] }],
    },
    { type: 'heading', level: 1, children: [text] },
    { type: 'code', children: [text] },
  ],
  internalNote: MARKUP,
  address: { street: MARKUP, city: MARKUP, geo: { label: MARKUP } },
  hours: [{ day: 'mon', note: MARKUP }],
  sections: [
    { __component: 'blocks.hero', headline: MARKUP },
    { __component: 'blocks.quote', text: MARKUP, author: MARKUP },
  ],
};

describe('hostile values in the console', longInBrowser('hostile values in the console'), () => {
  let receiver: Receiver;
  let server: RunningServer;
  let shown: ConsolePage;
  let links: Readonly<Record<string, string>>;

  /** Makes hostile values of everything that the page shows, and returns the ids for its links. */
  async function plant(ask: Ask, token: string): Promise<Readonly<Record<string, string>>> {
    const post = async (path: string, data: object) => {
      const { status, body } = await ask(path, { method: 'POST', body: { data } });
      expect(status, `${path} ${JSON.stringify(body)}`).toBe(201);
      return body.data;
    };
    const form = uploadForm([{ name: MARKUP.replaceAll('/', ' '), bytes: MARKUP, type: 'text/plain' }], {
      // A name has no slashes.
      fileInfo: JSON.stringify({
        name: MARKUP.replaceAll('/', ''),
        caption: MARKUP,
        alternativeText: MARKUP,
      }),
    });
    const headers = { authorization: `Bearer ${token}` };
    const uploaded = await fetch(`${server.url}/api/upload`, { method: 'POST', headers, body: form });
    expect(uploaded.status).toBe(201);
    const [file] = (await uploaded.json()) as { readonly id: number }[];
    const tag = await post('/api/tags', { key: MARKUP, name: MARKUP });
    const { documentId } = await post('/api/restaurants?status=draft', {
      ...VALUES,
      logo: file?.id,
      tags: [tag.documentId],
    });
    const changed = await ask(`/api/restaurants/${documentId}?status=draft`, {
      method: 'PUT',
      body: { data: { name: `${MARKUP} again` } },
    });
    expect(changed.status).toBe(200);
    const { id: release } = await post('/_varve/releases', {
      name: MARKUP,
      scheduledAt: '2031-12-24T08:00:00Z',
    });
    await post(`/_varve/releases/${release}/actions`, {
      type: 'publish',
      contentType: TYPE,
      entryDocumentId: documentId,
    });
    await post('/_varve/webhooks', {
      name: MARKUP,
      url: `${receiver.url}/?${encodeURIComponent(MARKUP)}`,
      allowPrivate: true,
    });
    // Written with the webhook, so it has deliveries.
    const gone = await post('/api/tags', { key: `${MARKUP} gone`, name: MARKUP });
    await ask(`/api/tags/${gone.documentId}`, { method: 'DELETE' });
    await createTokenOver(ask, { name: `${MARKUP} 2`, type: 'custom', allow: ['tag.find'] });
    await post('/api/categories', { key: MARKUP, name: MARKUP });
    const { data: versions } = (await ask(`/api/restaurants/${documentId}/versions?status=draft`)).body;
    const { data: events } = (await ask('/_varve/events?limit=500')).body;
    const event = events.find((each: { document?: string }) => JSON.stringify(each).includes(documentId));
    return {
      documentId,
      release: String(release),
      position: String(event.position),
      version: versions.at(-1).id,
    };
  }

  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.answer(() => ({ status: 302, headers: { location: MARKUP } }));
    server = await startServer();
    const token = await createTokenOver(createAsk(server.url), { name: MARKUP, type: 'full-access' });
    links = await plant(createAsk(server.url, token), token);
    shown = await openConsole(server.url);
    await shown.show('', '.sign-in form');
    await shown.page.fill('#token', token);
    await shown.page.keyboard.press('Enter');
    await shown.page.waitForSelector('header nav', REACTS);
  }, 300_000);

  afterAll(async () => {
    await shown?.close();
    await server?.dispose();
    await receiver?.close();
  });

  const asked = (path: string) => `#/query?request=${encodeURIComponent(path)}`;

  /** Links of parts, and what each shows once it has read it. */
  const PARTS: readonly (readonly [part: string, link: () => string, drawn: string])[] = [
    ['overview', () => '#/overview', '.events tbody tr'],
    ['list', () => '#/content/restaurants', 'main td'],
    ['search', () => `#/content/restaurants?facets=true&q=${encodeURIComponent(MARKUP)}`, '.matches mark'],
    ['types', () => '#/content', '.all-types tbody tr'],
    ['type', () => '#/content/restaurants/_type', '.attributes tbody tr'],
    [
      'reasons of a search',
      () => `${asked('/api/restaurants?status=draft&search=onerror')}&plan=true`,
      '.found-words tbody td',
    ],
    ['form', () => `#/content/restaurants/${links['documentId']}/edit`, '.form'],
    ['versions', () => `#/content/restaurants/${links['documentId']}/history`, '.versions tbody tr'],
    [
      'difference of versions',
      () => `#/content/restaurants/${links['documentId']}/history?from=${links['version']}`,
      '.diff ins',
    ],
    ['deleted', () => '#/content/tags/_deleted', 'main td a'],
    ['unknown part', () => `#/${encodeURIComponent(MARKUP)}`, 'h1:has-text("There is no such part")'],
    ['unknown type', () => `#/content/${encodeURIComponent(MARKUP)}`, 'main code'],
    [
      'unknown entry',
      () => `#/content/tags/${encodeURIComponent(MARKUP)}`,
      'h1:has-text("There is no such entry")',
    ],
    ['unknown event', () => `#/log/${encodeURIComponent(MARKUP)}`, 'main .bad'],
    ['unknown release', () => `#/releases/${encodeURIComponent(MARKUP)}`, 'main .bad'],
    ['unknown webhook', () => `#/delivery/${encodeURIComponent(MARKUP)}`, 'main .bad'],
    ['delivery', () => '#/delivery', '.deliveries tbody tr'],
    ['entry', () => `#/content/restaurants/${links['documentId']}`, '.values td'],
    ['answer', () => asked('/api/restaurants?status=draft&populate=*'), '.answer pre.body'],
    ['error', () => asked(`/api/restaurants?filters[${MARKUP}]=1`), '.answer pre.body'],
    ['projections', () => '#/projections', '.generations tbody tr'],
    ['log', () => '#/log', 'main table tbody tr'],
    ['event', () => `#/log/${links['position']}`, '.event pre.body'],
    ['releases', () => '#/releases', '.releases tbody tr'],
    ['calendar', () => '#/releases?view=calendar', '.calendar li'],
    ['release', () => `#/releases/${links['release']}`, '.release-entries tbody tr'],
    ['access', () => '#/access', '.tokens tbody tr'],
    ['settings', () => '#/settings', '.settings tbody tr'],
  ];

  test('run nothing in the headers of an answer', async () => {
    // Varve sends no such headers. A proxy in front of it may.
    const headers = { etag: MARKUP, vary: MARKUP, 'cache-control': MARKUP, 'content-type': 'text/html' };
    await shown.page.route('**/api/hostile', (route) => route.fulfill({ headers, body: MARKUP }));
    await shown.show(asked('/api/hostile'), '.answer .headers');
    expect(await shown.page.locator('.answer dd', { hasText: MARKUP }).count()).toBe(3);
    expect(await shown.page.textContent('.answer pre.body')).toBe(MARKUP);
    expect(await shown.problems()).toEqual([]);
  });

  test('run nothing in parked documents and events of other programs', async () => {
    // The embedded index refuses no document.
    const parked = { item: MARKUP, type: MARKUP, documentId: MARKUP, locale: MARKUP, position: '1' };
    const lines = [
      { kind: 'item', item: { ...parked, reason: MARKUP, row: { [MARKUP]: MARKUP } } },
      { kind: 'event', event: { position: '2', type: MARKUP, stream: MARKUP, reason: MARKUP } },
    ];
    await shown.page.route('**/_varve/operations/list-parked', (route) =>
      route.fulfill({ json: { data: lines } }),
    );
    await shown.show('#/projections', '.parked tbody tr');
    const card = shown.card('Parked documents');
    await card.locator('.parked summary').click();
    expect(await card.locator('td', { hasText: MARKUP }).count()).toBe(6);
    expect(await shown.problems()).toEqual([]);
    await shown.page.unroute('**/_varve/operations/list-parked');
  });

  test('run nothing in blocks that the API would refuse', async () => {
    const url = 'javascript:window.hit=1';
    const image = { url: '/\\other.example/x.png', mime: 'image/png', name: MARKUP };
    const content = [
      { type: 'paragraph', children: [{ type: 'link', url, children: [text] }] },
      { type: 'image', image, children: [text] },
    ];
    const path = `**/api/restaurants/${links['documentId']}?*`;
    await shown.page.route(path, async (route) => {
      const json = await (await route.fetch()).json();
      await route.fulfill({ json: { ...json, data: { ...json.data, content } } });
    });
    await shown.show(`#/content/restaurants/${links['documentId']}`, `.prose span:has-text("(${url})")`);
    await shown.page.locator('.prose .picture', { hasText: MARKUP }).first().waitFor(REACTS);
    expect(await shown.problems()).toEqual([]);
    await shown.page.unroute(path);
  });

  test('run nothing in found entries and found files of a form', async () => {
    await shown.show(`#/content/restaurants/${links['documentId']}/edit`, '.form');
    await shown.page.locator('input[type=search][aria-label$=" for category"]').focus();
    await shown.page.locator('.search .found button', { hasText: '<img' }).waitFor(REACTS);
    expect(await shown.problems()).toEqual([]);
    await shown.page.keyboard.press('Escape');
    await shown.page.click('button[aria-label="Choose or upload a file for logo"]');
    await shown.page.locator('dialog .files button', { hasText: '<img' }).first().waitFor(REACTS);
    expect(await shown.problems()).toEqual([]);
  });

  test.each(['//other.example/api', '/\\other.example/api'])(
    'send no token to another server: %s',
    async (path) => {
      await shown.show(asked(path), 'main .bad:has-text("leads to another server")');
      expect(await shown.problems()).toEqual([]);
    },
  );

  test.each(PARTS)('run nothing in: %s', { timeout: 300_000 }, async (_part, link, drawn) => {
    await shown.show(link(), drawn);
    expect(await shown.problems()).toEqual([]);
  });
});
