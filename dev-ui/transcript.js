/** Shows the events of a session. Partial events grow one entry, which the whole event then replaces. */

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

const json = (value) => element('pre', { textContent: JSON.stringify(value, undefined, 2) });

const viewOfPart = (part) => {
  if (part.text) return element('p', { className: part.thought ? 'thought' : '', textContent: part.text });
  if (part.functionCall) {
    const { name, args } = part.functionCall;
    return element('details', {}, element('summary', { textContent: `Calls ${name}` }), json(args ?? {}));
  }
  if (part.functionResponse) {
    const { name, response } = part.functionResponse;
    return element('details', {}, element('summary', { textContent: `Answer of ${name}` }), json(response));
  }
  const { mimeType, data } = part.inlineData ?? {};
  if (mimeType?.startsWith('image/')) {
    return element('img', { src: `data:${mimeType};base64,${data}`, alt: part.inlineData.displayName ?? 'Image' });
  }
  if (part.text === '') return undefined;
  return element('details', {}, element('summary', { textContent: 'Other content' }), json(part));
};

const viewOf = (event) => {
  const isUser = event.author === 'user' && !event.content?.parts?.some((part) => part.functionResponse);
  const parts = (event.content?.parts ?? []).map(viewOfPart).filter(Boolean);
  const failure = event.errorMessage ?? event.errorCode;
  if (failure) parts.push(element('p', { textContent: failure }));
  if (parts.length === 0) return undefined;
  const kind = failure ? 'error' : isUser ? 'user' : 'agent';
  return element(
    'article',
    { className: kind },
    element('h3', { textContent: isUser ? 'You' : event.author }),
    ...parts,
  );
};

export class Transcript {
  #log;
  #growing;

  constructor(log) {
    this.#log = log;
  }

  clear() {
    this.#growing = undefined;
    this.#log.replaceChildren();
  }

  add(event) {
    if (event.partial && this.#growing && this.#grow(event)) return;
    const view = viewOf(event);
    if (!view) return;
    const follows = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < 80;
    if (this.#growing) this.#growing.replaceWith(view);
    else this.#log.append(view);
    this.#growing = event.partial ? view : undefined;
    if (follows) this.#log.scrollTop = this.#log.scrollHeight;
  }

  fail(message) {
    this.add({ author: 'Error', errorMessage: message });
  }

  /** Appends to the last paragraph when it is of the same kind. */
  #grow(event) {
    const part = event.content?.parts?.at(-1);
    const last = this.#growing.lastElementChild;
    if (!part?.text || last?.tagName !== 'P') return false;
    if ((last.className === 'thought') === Boolean(part.thought)) last.append(part.text);
    else this.#growing.append(viewOfPart(part));
    this.#log.scrollTop = this.#log.scrollHeight;
    return true;
  }
}
