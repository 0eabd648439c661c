import type { ConsoleFiles } from './console-files.ts';

/** Path below which the files of the console are. */
export const FILES_PATH = '/_varve/console';

/** Returns the page. It has no data: its modules ask for them, with the rights of the caller. */
export function consolePage({ modules, main }: ConsoleFiles, hasSearch: boolean): string {
  const preloads = modules
    .map((name) => `<link rel="modulepreload" href="${FILES_PATH}/${name}">`)
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${hasSearch ? '<meta name="varve-search" content="/search">\n' : ''}<title>Varve</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${FILES_PATH}/uplot.css">
<link rel="stylesheet" href="${FILES_PATH}/console.css">
${preloads}
<script type="module" src="${FILES_PATH}/${main}"></script>
</head>
<body>
<div id="console"></div>
<noscript><p>The console needs JavaScript. Everything that it does is also a command of <code>varve</code> or a request: see <a href="/docs">the documentation of the API</a>.</p></noscript>
</body>
</html>
`;
}
