import type { BrowserContext } from 'playwright-core';

export type PageComparison = {
  readonly page: string;
  readonly differences: readonly string[];
  /** Number of lines of text, and of pictures, on the page that reads Strapi. */
  readonly texts: number;
  readonly pictures: number;
};

/** A running front end. `api`: the address to which requests of its pages to `Comparison.api` are redirected. */
export type FrontEnd = { readonly url: string; readonly api?: string | undefined };

export type Comparison = {
  /** Paths of pages. */
  readonly pages: readonly string[];
  readonly strapi: FrontEnd;
  readonly varve: FrontEnd;
  /** Texts that count as equal, as `of Strapi=of Varve`. */
  readonly same: readonly string[];
  /** The address of the API in the pages, if both have the same. */
  readonly api?: string | undefined;
};

type PageContents = {
  readonly status: number;
  readonly title: string;
  readonly texts: readonly string[];
  readonly links: readonly string[];
  readonly pictures: readonly string[];
  readonly errors: readonly string[];
};

const LOAD_LIMIT_MS = 60_000;

/** Script that scrolls the page. Some pictures are only loaded when they are in view, and some are never loaded. */
const SCROLL = `(async () => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
    scrollTo(0, y);
    await pause(50);
  }
  const decoded = Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  await Promise.race([decoded, pause(5000)]);
})()`;

/** Script that reads the contents of the page. */
const READ = `({
  title: document.title,
  texts: document.body.innerText.split('\\n').map((line) => line.trim()).filter((line) => line !== ''),
  links: [...document.links].map(({ href }) => href),
  pictures: [...document.images].map((one) => [one.src, one.alt, one.naturalWidth, one.naturalHeight].join(' ')),
})`;

/** Compares the pages that a reader sees on both servers: texts, links, pictures with their sizes in pixels, and errors of scripts. */
export async function* comparePages(
  context: BrowserContext,
  { pages, strapi, varve, same, api }: Comparison,
): AsyncGenerator<PageComparison> {
  for (const path of pages) {
    const left = await readPage(context, { ...strapi, path, from: api, replacements: [] });
    const replacements = [[varve.url, strapi.url] as const, ...same.map(reversedPair)];
    const right = await readPage(context, { ...varve, path, from: api, replacements });
    const differences = Object.keys(left).flatMap((part) =>
      differencesOf(part, left[part as keyof PageContents], right[part as keyof PageContents]),
    );
    yield { page: path, differences, texts: left.texts.length, pictures: left.pictures.length };
  }
}

function reversedPair(text: string): readonly [string, string] {
  const [ofStrapi = '', ofVarve = ''] = text.split('=');
  return [ofVarve, ofStrapi];
}

type PageRequest = FrontEnd & {
  readonly path: string;
  /** Address to which the page sends its requests for `api`. */
  readonly from: string | undefined;
  readonly replacements: readonly (readonly [string, string])[];
};

async function readPage(
  context: BrowserContext,
  { url, path, api, from, replacements }: PageRequest,
): Promise<PageContents> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  try {
    if (from !== undefined && api !== undefined) {
      await page.route(`${from}/**`, async (route) =>
        route.fulfill({ response: await route.fetch({ url: route.request().url().replace(from, api) }) }),
      );
    }
    const response = await page.goto(new URL(path, url).href, { waitUntil: 'load', timeout: LOAD_LIMIT_MS });
    await page.evaluate(SCROLL);
    const seen = (await page.evaluate(READ)) as Omit<PageContents, 'status' | 'errors'>;
    const replaced = JSON.parse(
      replacements.reduce(
        (text, [from, to]) => text.replaceAll(from, to),
        JSON.stringify({ ...seen, errors }),
      ),
    ) as Omit<PageContents, 'status'>;
    return { status: response?.status() ?? 0, ...replaced };
  } finally {
    await page.close();
  }
}

function differencesOf(part: string, left: unknown, right: unknown): readonly string[] {
  const [ofStrapi, ofVarve] = [left, right].map((value) =>
    Array.isArray(value) ? value.map(String) : [String(value)],
  );
  if (ofStrapi === undefined || ofVarve === undefined) return [];
  const at = Array.from({ length: Math.max(ofStrapi.length, ofVarve.length) }, (_, i) => i);
  return at.flatMap((i) =>
    ofStrapi[i] === ofVarve[i]
      ? []
      : [`${part}: ${ofStrapi[i] ?? '(none)'} with Strapi, ${ofVarve[i] ?? '(none)'} with Varve`],
  );
}
