/**
 * Opens a description in Swagger UI. Requests go to the server that this page came from. A write needs an Idempotency-Key: a new one is
 * made for each, so that the first request is one press. Signatures and what else may be left out is not asked for: a sandbox needs none.
 */
const place = document.querySelector('#explorer');
const { root, sends } = place.dataset;
const isWhitelabel = new URLSearchParams(location.search).get('api') === 'whitelabel';
const LEFT_OUT = [
  ...['Content-Digest', 'Signature-Input', 'Signature', 'Cloverleaf-Version', 'X-Client-Request-Id'],
  'Idempotency-Key',
];

for (const link of document.querySelectorAll('nav a'))
  if (link.search === (isWhitelabel ? '?api=whitelabel' : '?api=v1')) link.setAttribute('aria-current', 'page');

const dark = window.matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
paint();
dark.addEventListener('change', paint);

/** Parameters may be named by reference. */
const nameOf = (description, { name, $ref: ref }) =>
  name ?? description.components?.parameters?.[ref?.split('/').at(-1)]?.name;

function forHere(description) {
  for (const operations of Object.values(description.paths))
    for (const operation of Object.values(operations))
      if (Array.isArray(operation.parameters))
        operation.parameters = operation.parameters.filter(
          (parameter) => !LEFT_OUT.includes(nameOf(description, parameter)),
        );
  const path = new URL(description.servers[0].url).pathname;
  return {
    ...description,
    servers: [{ url: `${location.origin}${path === '/' ? '' : path}`, description: 'This server' }],
  };
}

async function open() {
  const response = await fetch(`${root}/${isWhitelabel ? 'openapi.json' : 'openapi-v1.json'}`);
  const described = await response.json();
  window.SwaggerUIBundle({
    domNode: place,
    // A white-label request is signed over its body, which this page cannot do.
    spec: isWhitelabel ? described : forHere(described),
    supportedSubmitMethods: sends === 'true' && !isWhitelabel ? ['get', 'post', 'put', 'patch', 'delete'] : [],
    requestInterceptor(request) {
      if (request.method !== 'GET') request.headers['Idempotency-Key'] ??= crypto.randomUUID();
      return request;
    },
    // No other host is called.
    validatorUrl: null,
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    persistAuthorization: false,
  });
}

open();
