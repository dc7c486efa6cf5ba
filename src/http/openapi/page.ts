import type { Operation } from '../operation.ts';
import type { DescribedOperation, JsonSchema, OpenApiDocument } from './document.ts';
import { css } from './page-style.ts';

/** The API description for people: one page without scripts and external resources. */
export function apiPage(operations: readonly Operation[], document: OpenApiDocument): string {
  const { title, version } = document.info;
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const sections = tags.map((tag) => {
    const views = operations.filter((operation) => operation.tag === tag).map((one) => operationView(one, document));
    return html`<section aria-labelledby="${anchor(tag)}">
      <h2 id="${anchor(tag)}">${tag}</h2>
      ${join(views)}
    </section>`;
  });
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => schemaView(name, schema));
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>API of ${title}</title>
        <link rel="icon" href="data:," />
        <style>
          ${{ markup: css }}
        </style>
      </head>
      <body>
        <header>
          <h1>API of ${title}</h1>
          <p>
            Version ${version}. For programs: <a href="openapi.json">openapi.json</a>. To try it:
            <a href="dev-ui/">web UI</a>.
          </p>
        </header>
        <nav aria-label="Contents">
          <ul>
            ${join(tags.map((tag) => html`<li><a href="#${anchor(tag)}">${tag}</a></li>`))}
            <li><a href="#schemas">Schemas</a></li>
          </ul>
        </nav>
        <main>
          ${join(sections)}
          <section aria-labelledby="schemas">
            <h2 id="schemas">Schemas</h2>
            ${join(schemas)}
          </section>
        </main>
      </body>
    </html> `.markup;
}

function operationView({ method, paths, summary }: Operation, document: OpenApiDocument): Html {
  const [path, ...aliases] = paths.map((spelling) => spelling.replaceAll('+}', '}'));
  const described = document.paths[path ?? '']?.[method.toLowerCase()];
  return html`<details>
    <summary>
      <span class="method ${method.toLowerCase()}">${method}</span> <code>${path ?? ''}</code>
      <span class="what">${summary}</span>
    </summary>
    ${
      aliases.length > 0
        ? html`<p>
            Also as
            ${join(
              aliases.map((alias) => html`<code>${alias}</code>`),
              ', ',
            )}
          </p>`
        : ''
    }
    ${described ? exchangeView(described) : ''}
  </details>`;
}

function exchangeView({ parameters = [], requestBody, responses }: DescribedOperation): Html {
  const rows = parameters.map(({ name, in: place, required, schema, description = '' }) =>
    row(name, `${place}${required ? '' : ', optional'}`, html`${typeView(schema)} ${description}`),
  );
  const answers = Object.entries(responses).map(
    ([status, { description, content }]) =>
      html`<li><strong>${status}</strong> ${description} ${contentView(content)}</li>`,
  );
  return html`${
      rows.length > 0
        ? html`<table>
            <caption>
              Parameters
            </caption>
            ${join(rows)}
          </table>`
        : ''
    }
    ${requestBody ? html`<p>Body: ${contentView(requestBody.content)}</p>` : ''}
    <p>Answers</p>
    <ul>
      ${join(answers)}
    </ul>`;
}

type Content = NonNullable<DescribedOperation['requestBody']>['content'];

function contentView(content: Content = {}): Html {
  return join(
    Object.entries(content).map(([type, { schema }]) => html`${typeView(schema)} as <code>${type}</code>`),
    ', ',
  );
}

function schemaView(name: string, { properties = {}, required = [] }: JsonSchema): Html {
  const rows = Object.entries(properties).map(([key, property]) =>
    row(key, required.includes(key) ? 'always' : 'optional', html`${typeView(property)} ${property.description ?? ''}`),
  );
  return html`<details id="schema-${name}">
    <summary><code>${name}</code></summary>
    <table>
      ${join(rows)}
    </table>
  </details>`;
}

const row = (name: string, presence: string, what: Html): Html =>
  html`<tr>
    <th scope="row"><code>${name}</code></th>
    <td>${presence}</td>
    <td>${what}</td>
  </tr>`;

/** A schema in a few words, with links to the named ones. */
function typeView(schema: JsonSchema): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf) return join(schema.anyOf.map(typeView), ' or ');
  if (schema.enum)
    return join(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' | ',
    );
  if (schema.type === 'array') return html`list of ${schema.items ? typeView(schema.items) : 'anything'}`;
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return html`${schema.type ?? 'anything'}`;
  return html`{
  ${join(
    fields.map(([key, field]) => html`<code>${key}</code>: ${typeView(field)}`),
    ', ',
  )}
  }`;
}

const anchor = (tag: string): string => tag.toLowerCase().replaceAll(/\W+/g, '-');

/** Markup that is safe to put into a page as it is. */
interface Html {
  readonly markup: string;
}

/** Builds markup; texts put into it are escaped. */
function html(pieces: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  return { markup: String.raw({ raw: pieces }, ...values.map(markupOf)) };
}

const join = (items: readonly (string | Html)[], separator = ''): Html => ({
  markup: items.map(markupOf).join(separator),
});

const markupOf = (value: string | Html): string => (typeof value === 'string' ? escape(value) : value.markup);

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
