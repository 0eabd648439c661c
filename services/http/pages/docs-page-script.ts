import { expandDeepObjects } from './expand-deep-objects.ts';

export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Varve content API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/script.js"></script>
</body>
</html>
`;

/**
 * Script of the page. The text of the function is JavaScript, because Node has stripped its types. `queryConfig` is off, so that a link
 * cannot make the page load another document. The validator's badge is off, because another host draws it.
 */
export const DOCS_SCRIPT = `'use strict';
${expandDeepObjects.toString()}
window.ui = SwaggerUIBundle({
  url: '/docs/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  queryConfigEnabled: false,
  validatorUrl: null,
  requestInterceptor: (request) => {
    request.url = expandDeepObjects(request.url, location.href);
    return request;
  },
});
`;
