// The page of `elmo-tasks serve`: a tab for each model, and tabs for ELMo itself.
//
// The server lists the tabs at /models, as the predictors declare them in `task`. The `drawing` of a
// tab is the name of the function in `show` that draws its answers.
'use strict';

// ---------------------------------------------------------------- elements

// Elements with texts of users. The first letter says whether a text runs from right to left.
const withTexts = ['button', 'input', 'ol', 'p', 'strong', 'td', 'textarea', 'th', 'ul'];

// Characters that turn the direction of writing or have no width, as in `printable` of
// common/text.py. Joiners and variation selectors are left beside characters that need them.
const steering = new RegExp(
  '[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\u061c\\u200e\\u200f\\ud800-\\udfff'
    + '\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u2060-\\u2065\\u206a-\\u206f\\u3164\\ufeff\\uffa0'
    + '\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}]'
    + '|(?<![^\\x00-\\x7f])[\\u200c\\u200d]|[\\u200c\\u200d](?![^\\x00-\\x7f\\u200c\\u200d])'
    + '|(?<![^\\x00-\\x7f])[\\u{e0100}-\\u{e01ef}]'
    + '|(?<=[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}])[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]', 'gu');

// A text whose control and invisible characters are escaped, so that no label looks like another.
function printable(text) {
  return text.replace(steering, (found) => {
    const code = found.codePointAt(0);
    if (code === 0x0d) return '\\r';
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    const hex = code.toString(16);
    return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
  });
}

// Makes an element. Strings are set as text, never as HTML, and are `printable`: they are the page's
// own words, and names and labels from files.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (withTexts.includes(tag)) element.dir = 'auto';
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name.startsWith('--')) element.style.setProperty(name, value);
    else if (value !== null) element.setAttribute(name, value);
  }
  const shown = (child) => (typeof child === 'string' ? printable(child) : child);
  element.append(...children.map(shown));
  return element;
}

// Makes an element whose strings are a text of the user, shown as it is. The element isolates them
// (`dir`), so that no mark of direction in them turns the words around it. An element within such a
// text has `dir: null`: it takes part in the text's direction.
function quote(tag, attributes = {}, ...pieces) {
  const element = make(tag, { dir: 'auto', ...attributes });
  element.append(...pieces);
  return element;
}

// Whether an element runs from right to left, and the direction of words.
const isLeftward = (element) => element.matches(':dir(rtl)');
const directionOf = (words) => (isLeftward(quote('p', {}, words.join(' '))) ? 'rtl' : 'ltr');

const shown = (number, digits = 3) => number.toFixed(digits).replace(/^-(0\.0+)$/, '$1');
const heading = (...pieces) => make('h2', {}, ...pieces);

// A table whose caption is a list of pieces, and whose rows are lists of cells; strings of digits are
// right-aligned.
function table(caption, columns, rows, attributes = {}) {
  const cell = (content, index) => {
    if (content instanceof HTMLTableCellElement) return content;
    if (index === 0) return make('th', { scope: 'row' }, content);
    const isNumber = typeof content === 'string' && /^-?[\d.,]+( %)?$/.test(content);
    return make('td', isNumber ? { class: 'number' } : {}, content);
  };
  const head = columns.map((name) => (name instanceof HTMLTableCellElement ? name : make('th', { scope: 'col' }, name)));
  return make('div', { class: 'scroll' }, make('table', attributes,
    make('caption', {}, ...[caption].flat()),
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows.map((cells) => make('tr', {}, ...cells.map(cell))))));
}

// Probabilities, or other numbers from 0 to 1, as bars. `named` makes the cells of the names: `quote`
// if they are words of the user.
function bars(caption, numbers, named = make) {
  const row = ([name, number]) => {
    const bar = make('div', { class: 'bar' });
    bar.style.width = `${100 * number}%`;
    return make('tr', {}, named('th', { scope: 'row' }, name), make('td', {}, bar),
      make('td', { class: 'number' }, shown(number)));
  };
  return make('table', { class: 'bars' }, make('caption', {}, caption),
    make('tbody', {}, ...Object.entries(numbers).map(row)));
}

const largestFirst = (numbers) => Object.fromEntries(Object.entries(numbers).sort((one, other) => other[1] - one[1]));

// Lets the arrow keys move among elements of which only one is a stop of the Tab key.
function rove(elements) {
  elements.forEach((element, index) => {
    element.tabIndex = index === 0 ? 0 : -1;
    element.addEventListener('keydown', (event) => {
      const right = isLeftward(element) ? -1 : 1;
      const step = { ArrowRight: right, ArrowDown: 1, ArrowLeft: -right, ArrowUp: -1 }[event.key];
      const ends = { Home: 0, End: elements.length - 1 };
      if (step === undefined && !(event.key in ends)) return;
      event.preventDefault();
      const next = event.key in ends ? ends[event.key]
        : (index + step + elements.length) % elements.length;
      elements[index].tabIndex = -1;
      elements[next].tabIndex = 0;
      elements[next].focus();
    });
  });
}

// A group of words of which one is chosen. Calls `choose` with the index of a word.
function wordButtons(words, choose) {
  // Not <button>: a line may break between a button and the comma after it.
  const buttons = words.map((word, index) => quote('span', {
    role: 'button', class: 'token', dir: null, 'aria-pressed': 'false',
    onclick: () => {
      buttons.forEach((button, other) => button.setAttribute('aria-pressed', String(other === index)));
      choose(index);
    },
    onkeydown: (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      buttons[index].click();
    },
  }, word));
  rove(buttons);
  return buttons;
}

// Explains the names of types. A prefix, such as R- of R-ARG0, has a meaning of its own.
function legend(names, meanings) {
  const parts = names.flatMap((name) => (name in meanings ? [name] : name.split(/(?<=^[A-Z]-)/)));
  const known = [...new Set(parts)].filter((name) => name in meanings);
  return make('dl', { class: 'legend' }, ...known.flatMap((name) =>
    [make('dt', {}, name), ...(meanings[name] ? [make('dd', {}, meanings[name])] : [])]));
}

// Words, the stronger in colour the more they matter.
function weighted(tokens, weights) {
  const largest = Math.max(...weights, 1e-9);
  return quote('p', { class: 'text' }, ...tokens.flatMap((token, index) => [quote('span', {
    class: 'warm word', dir: null, '--weight': 0.8 * weights[index] / largest, title: shown(weights[index]),
  }, token), ' ']));
}

// A choice of one of several names, which are strings or lists of pieces. Calls `choose` with the index of a name.
let numGroups = 0;
function radio(legend, names, choose) {
  const group = `group-${numGroups += 1}`;
  const labels = names.map((name, index) => make('label', {}, make('input', {
    type: 'radio', name: group, onchange: () => choose(index), ...(index === 0 ? { checked: '' } : {}),
  }), ' ', make('bdi', {}, ...[name].flat())));
  return make('fieldset', {}, make('legend', {}, legend), ...labels);
}

// ---------------------------------------------------------------- answers, by task

// Each function gets the server's answer, the input, and what the types of an answer mean. It
// returns elements.
const show = {
  label(answer) {
    return [
      make('p', { class: 'big' }, answer.label ?? (answer.labels.join(', ') || 'no label')),
      bars('Probabilities', largestFirst(answer.probabilities)),
    ];
  },

  tags(answer) {
    const row = (word, index) => [quote('th', { scope: 'row' }, word), answer.tags[index], shown(answer.probabilities[index])];
    return [table('The tag of each word', ['word', 'tag', 'probability'], answer.tokens.map(row))];
  },

  // The server counts characters as code points, JavaScript counts UTF-16 units.
  entities(answer, input, meanings) {
    const points = Array.from(answer.sentence);
    const types = [];
    const readout = make('p', { class: 'readout', 'aria-live': 'polite' },
      answer.entities.length ? 'Point at an entity to see its confidence.' : 'No entity.');
    const pieces = [];
    let end = 0;
    for (const { type, text, confidence, characters } of answer.entities) {
      if (!types.includes(type)) types.push(type);
      const sure = `confidence ${shown(confidence)}`;
      const tell = () => {
        const pieces = [`${type || 'entity'} “`, quote('bdi', {}, text), `”, ${sure}`];
        readout.replaceChildren(...make('p', {}, ...pieces).childNodes);
      };
      pieces.push(points.slice(end, characters[0]).join(''), quote('mark', {
        dir: null, class: `entity type-${types.indexOf(type) % 5}`, '--confidence': confidence,
        title: sure, tabindex: 0, onmouseenter: tell, onfocus: tell,
      }, text, make('small', {}, type)));
      end = characters[1];
    }
    const marked = quote('p', { class: 'text' }, ...pieces, points.slice(end).join(''));
    return [marked, readout, legend(types, meanings)];
  },

  reading(answer, input) {
    const points = Array.from(input.passage);
    // A passage that is read in windows is long: it stands in a box, at the answer.
    const isLong = answer.paragraph !== undefined;
    const text = quote('p', isLong ? { class: 'text long', tabindex: 0 } : { class: 'text' });
    const draw = (chosen) => {
      const { start, end } = answer.best[chosen];
      const mark = quote('mark', { dir: null }, points.slice(start, end).join(''));
      text.replaceChildren(points.slice(0, start).join(''), mark, points.slice(end).join(''));
      text.scrollTop = mark.offsetTop - text.clientHeight / 2;
    };
    draw(0);
    // The text has no height before it is part of the page.
    if (isLong) requestAnimationFrame(() => draw(0));
    const names = answer.best.map((span, index) =>
      [`${index + 1}: `, quote('bdi', {}, span.answer), ` (${shown(span.probability)})`]);
    return [
      quote('p', { class: 'big' }, answer.answer),
      text,
      radio('Best answers (with their probabilities)', names, draw),
    ];
  },

  roles(answer, input, meanings) {
    if (!answer.predicates.length) return [make('p', {}, 'No predicate.')];
    const names = [];
    const rows = answer.predicates.map((predicate) => {
      const cells = [];
      let index = 0;
      const skip = (end) => { for (; index < end; index += 1) cells.push(make('td')); };
      for (const { role, tokens, confidence } of predicate.roles) {
        if (!names.includes(role)) names.push(role);
        skip(tokens[0]);
        cells.push(make('td', {
          class: `entity type-${names.indexOf(role) % 5}`, colspan: tokens[1] - tokens[0],
          '--confidence': confidence, title: `confidence ${shown(confidence)}`,
        }, role));
        index = tokens[1];
      }
      skip(answer.tokens.length);
      return [quote('th', { scope: 'row' }, predicate.text), ...cells];
    });
    const words = answer.tokens.map((token) => quote('th', { scope: 'col' }, token));
    const roles = table('The roles of each predicate: the stronger the colour, the more confident', ['', ...words], rows, { dir: directionOf(answer.tokens) });
    // The arrow keys scroll the focused table if it is wider than the page.
    roles.tabIndex = 0;
    roles.setAttribute('role', 'group');
    roles.setAttribute('aria-label', 'The roles of each predicate');
    return [roles, legend(names, meanings)];
  },

  coreference(answer) {
    if (!answer.clusters.length) return [make('p', {}, 'No two mentions refer to the same thing.')];
    const points = Array.from(answer.document);
    // A mention comes before those within it. No two mentions cross.
    const mentions = answer.clusters.flatMap((cluster, index) => cluster.map((mention) => ({ ...mention, index })))
      .sort((one, other) => one.characters[0] - other.characters[0] || other.characters[1] - one.characters[1]);
    let next = 0;
    const marked = (start, end) => {
      const pieces = [];
      while (next < mentions.length && mentions[next].characters[0] < end) {
        const { characters: [from, to], index, probability } = mentions[next];
        next += 1;
        pieces.push(points.slice(start, from).join(''), quote('mark', {
          dir: null, class: `entity type-${index % 5}`, '--confidence': probability ?? 1,
          title: probability === null ? 'the first mention' : `probability ${shown(probability)}`,
        }, ...marked(from, to), make('small', {}, String(index + 1))));
        start = to;
      }
      return [...pieces, points.slice(start, end).join('')];
    };
    const item = (cluster) => make('li', {}, ...cluster.flatMap((mention, index) =>
      [index ? ', ' : '', quote('bdi', {}, mention.text)]));
    return [
      quote('p', { class: 'text' }, ...marked(0, points.length)),
      heading('Clusters'),
      make('ol', { class: 'clusters', dir: directionOf([answer.document]) }, ...answer.clusters.map(item)),
    ];
  },

  layers(answer) {
    const box = make('div', { 'aria-live': 'polite' });
    const buttons = wordButtons(answer.tokens, (chosen) => {
      const rows = answer.tokens.map((word, other) => [quote('th', { scope: 'row' }, word), ...answer.cosines.map((layer) => {
        const cosine = layer[chosen][other];
        return make('td', { class: 'number warm', '--weight': Math.max(cosine, 0) }, shown(cosine, 2));
      })]);
      box.replaceChildren(table(['Cosine to “', quote('bdi', {}, answer.tokens[chosen]), '”'], ['word', ...answer.layers], rows));
    });
    const spaced = buttons.flatMap((button) => [button, ' ']);
    buttons[Math.min(1, buttons.length - 1)].click();
    return [make('p', { class: 'quiet' }, 'Choose a word:'), quote('p', { class: 'text' }, ...spaced), box];
  },

  words(answer) {
    const box = make('div', { 'aria-live': 'polite' });
    // Words of 20 bits or more have the strongest colour.
    const bits = (way, index) => make('td', { class: 'number warm', '--weight': Math.min(answer[way][index] / 20, 1) }, shown(answer[way][index], 1));
    const buttons = wordButtons(answer.tokens, (chosen) => {
      const ways = { forward: 'By the words before', backward: 'By the words after', both: 'By both' };
      box.replaceChildren(heading('Likelier than “', quote('bdi', {}, answer.tokens[chosen]), '”'), make('div', { class: 'columns' },
        ...Object.entries(ways).map(([way, title]) => bars(title, Object.fromEntries(answer.likely[chosen][way])))));
    });
    const rows = answer.tokens.map((word, index) => [buttons[index], bits('forward', index), bits('backward', index), answer.known[index] ? '' : 'unknown']);
    buttons[Math.min(1, buttons.length - 1)].click();
    return [
      table('Bits of each word: the more, the less likely. Choose a word to see likelier ones', ['word', 'given those before', 'given those after', ''], rows),
      box,
    ];
  },

  senses(answer) {
    const plot = make('div');
    const list = make('div');
    const sentence = (index) => answer.occurrences[index].words.join(' ');
    const readout = make('p', { class: 'readout', 'aria-live': 'polite' }, 'Point at a dot to see its sentence; choose one to compare.');
    let layer = answer.layers.length - 1;
    let chosen = 0;
    const draw = () => {
      const { points, cosines } = answer.layers[layer];
      const choose = (index) => { chosen = index; draw(); };
      plot.replaceChildren(scatter(points, chosen, sentence, choose, readout));
      const order = points.map((_, index) => index).filter((index) => index !== chosen)
        .sort((one, other) => cosines[chosen][other] - cosines[chosen][one]);
      const item = (index) => make('li', {}, make('span', { class: 'number' }, shown(cosines[chosen][index])),
        quote('button', { type: 'button', onclick: () => choose(index) }, sentence(index)));
      list.replaceChildren(make('p', {}, 'Chosen: ', quote('strong', {}, sentence(chosen))),
        make('ol', { class: 'list', 'aria-label': 'The other occurrences, the nearest first' }, ...order.map(item)));
    };
    const names = answer.layers.map((each) => each.name);
    const layers = radio('Layer', [...names].reverse(), (index) => { layer = names.length - 1 - index; draw(); });
    draw();
    const similar = Object.fromEntries(answer.similar.map(([word, cosine]) => [word, Math.max(cosine, 0)]));
    const count = answer.occurrences.length < answer.num_occurrences
      ? `The first ${answer.occurrences.length} of ${answer.num_occurrences} occurrences` : `${answer.num_occurrences} occurrences`;
    return [
      layers,
      make('div', { class: 'columns' },
        make('div', {}, heading(count), plot, readout),
        make('div', {}, heading('The nearest occurrences, with their cosines'), list)),
      heading('Without context'),
      bars('The nearest words of the text in layer 0, where a word has one vector', similar, quote),
    ];
  },
};

// Points in the plane of their first two principal components.
function scatter(points, chosen, sentence, choose, readout) {
  const svg = (tag, attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const largest = Math.max(1e-9, ...points.flat().map(Math.abs));
  const plot = svg('svg', { class: 'plot', viewBox: '-110 -110 220 220', role: 'img',
    'aria-label': `${points.length} occurrences in the plane; the list beside it has the same` });
  // The chosen point is drawn last, above the others.
  const order = points.map((_, index) => index).sort((one, other) => (one === chosen) - (other === chosen));
  for (const index of order) {
    const [x, y] = points[index];
    const dot = svg('circle', { cx: 100 * x / largest, cy: -100 * y / largest, r: 4, class: index === chosen ? 'chosen' : '' });
    dot.append(svg('title', {}));
    dot.firstChild.textContent = sentence(index);
    dot.addEventListener('mouseenter', () => { readout.textContent = sentence(index); });
    dot.addEventListener('click', () => choose(index));
    plot.append(dot);
  }
  return plot;
}

// The mixes of all models, for their tab.
function mixes(models) {
  const rows = models.flatMap((model) => model.mixes.map((mix) => ({ model: model.name, ...mix })));
  if (!rows.length) return [make('p', {}, 'No model with a mix of ELMo is loaded.')];
  return [
    make('p', { class: 'quiet' }, 'A model multiplies the weighted sum of the biLM’s layers by gamma. The weights sum to 1; the first layer is that of the tokens.'),
    ...rows.map((row) => make('div', {},
      heading(`${row.model}, ${row.place}`),
      bars(`Weights of the layers; gamma is ${shown(row.gamma)}`,
        Object.fromEntries(row.weights.map((weight, layer) => [layer ? `LSTM ${layer}` : 'tokens', weight]))))),
  ];
}

// ---------------------------------------------------------------- forms

// The command that sends the same input from a shell.
function curl(path, input) {
  const quoted = JSON.stringify(input).replaceAll("'", "'\\''");
  return `curl '${location.origin}${path}' -H 'Content-Type: application/json' -d '${quoted}'`;
}

async function post(path, input, signal) {
  const start = performance.now();
  const response = await fetch(path, {
    method: 'POST', body: JSON.stringify(input), headers: { 'Content-Type': 'application/json' }, signal,
  });
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  const answer = isJson ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(answer.error);
  return { answer, milliseconds: Math.round(performance.now() - start) };
}

const problemOf = (problem) => (problem instanceof TypeError
  ? `The server cannot be reached (${problem.message}).` : problem.message);

// A button that colours the words of the input by how much they matter for the answer.
function mattering(about, input, answer) {
  const box = make('div', { class: 'saliency', 'aria-live': 'polite' });
  const ask = make('button', { type: 'button', class: 'copy', onclick: async () => {
    try {
      const { texts } = (await post(`/saliency/${about.name}`, input)).answer;
      const drawn = make('div');
      const draw = (label) => drawn.replaceChildren(...texts.flatMap(({ field, tokens, weights }) =>
        [...(texts.length > 1 ? [make('h3', {}, field)] : []), weighted(tokens, weights[label])]));
      draw(0);
      const labels = answer.tags ? answer.tokens.map((token) => quote('bdi', {}, token)) : [];
      box.replaceChildren(heading('Words that matter'),
        make('p', { class: 'quiet' }, 'The stronger a word’s colour, the more the answer depends on it: the gradient of the loss times the word’s vector.'),
        ...(labels.length > 1 ? [radio('For', labels, draw)] : []), drawn);
    } catch (problem) {
      box.replaceChildren(make('p', { class: 'error' }, problemOf(problem)));
    }
  } }, 'Which words matter?');
  box.append(ask);
  return box;
}

// Details that most visitors do not need: the model, and the command that sends the same input.
function behind(about, path, input, milliseconds) {
  const line = curl(path, input);
  const copy = make('button', { type: 'button', class: 'copy', onclick: async () => {
    await navigator.clipboard.writeText(line);
    copy.textContent = 'Copied';
  } }, 'Copy');
  return make('details', {}, make('summary', {}, 'About this model'),
    make('p', {}, about.description), make('p', {}, `The answer took ${milliseconds} ms.`),
    make('h3', {}, 'The same in a shell'), make('pre', {}, line), copy);
}

// The form of a model or a tool, with its examples and the place of the answer. `begin` shows the
// answer to the first example.
function form(about, path) {
  const id = `f${numGroups += 1}`;
  const isJson = about.drawing === null;
  const fields = isJson ? ['json'] : about.fields;
  const boxes = {};
  const titleOf = (name) => (isJson ? 'Input, as JSON' : name[0].toUpperCase() + name.slice(1));
  const rows = fields.map((name) => {
    const isLong = about.drawing === 'label' && !about.examples.length || ['passage', 'document', 'text'].includes(name);
    boxes[name] = name === 'word' ? make('input', { type: 'text', id: `${id}-${name}` })
      : make('textarea', { id: `${id}-${name}`, rows: isLong ? 9 : 3 });
    return make('div', {}, make('label', { for: `${id}-${name}` }, titleOf(name)), boxes[name]);
  });
  const error = make('p', { class: 'error', role: 'alert' });
  const status = make('p', { class: 'quiet', role: 'status' });
  const result = make('div', { class: 'result' });
  let running = null;

  async function ask(event) {
    event?.preventDefault();
    running?.abort();
    const asking = running = new AbortController();
    error.textContent = '';
    result.setAttribute('aria-busy', 'true');
    try {
      const empty = fields.find((name) => !boxes[name].value.trim());
      if (empty) throw new Error(`Write something into “${titleOf(empty)}” first.`);
      status.textContent = 'Asking …';
      const input = isJson ? JSON.parse(boxes.json.value)
        : Object.fromEntries(Object.entries(boxes).map(([name, box]) => [name, box.value]));
      const { answer, milliseconds } = await post(path, input, asking.signal);
      const drawn = isJson ? [make('pre', {}, JSON.stringify(answer, null, 2))] : show[about.drawing](answer, input, about.legend);
      result.replaceChildren(...drawn, ...(about.explained ? [mattering(about, input, answer)] : []), behind(about, path, input, milliseconds));
    } catch (problem) {
      if (asking.signal.aborted) return;
      result.replaceChildren();
      error.textContent = printable(problemOf(problem));
    }
    status.textContent = '';
    result.setAttribute('aria-busy', 'false');
  }

  const choose = (example) => {
    for (const [name, box] of Object.entries(boxes)) box.value = example[name];
    ask();
  };
  const examples = about.examples.map((example) => make('li', {}, quote('button', {
    type: 'button', onclick: () => choose(example),
  }, exampleName(example))));
  const content = [
    make('p', { class: 'about' }, about.about),
    make('div', { class: 'halves' },
      make('form', {
        onsubmit: ask,
        onkeydown: (event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) ask(event); },
      }, ...rows, make('button', { class: 'ask', type: 'submit' }, 'Show'),
      ...(examples.length ? [make('div', {}, make('strong', {}, 'Examples'), make('ul', { class: 'examples' }, ...examples))] : [])),
      make('div', {}, error, status, result)),
  ];
  return { content, begin: () => { if (about.examples.length) choose(about.examples[0]); } };
}

// The field in which the examples of a task differ.
function exampleName(example) {
  return example.word || example.question || example.hypothesis || example.sentence || example.document;
}

// ---------------------------------------------------------------- tabs

function addTabs(tabs) {
  const bar = document.getElementById('tabs');
  const panels = document.getElementById('panels');
  const buttons = tabs.map(({ id, title }) => make('button', {
    role: 'tab', id: `tab-${id}`, 'aria-controls': `panel-${id}`, onclick: () => choose(id), onfocus: () => choose(id),
  }, title));
  const made = tabs.map(({ id, content }) => make('section', {
    role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}`, hidden: '',
  }, ...content));
  bar.replaceChildren(...buttons);
  panels.replaceChildren(...made);
  rove(buttons);

  function choose(id) {
    const index = Math.max(0, tabs.findIndex((tab) => tab.id === id));
    buttons.forEach((button, other) => {
      button.setAttribute('aria-selected', String(other === index));
      button.tabIndex = other === index ? 0 : -1;
      made[other].hidden = other !== index;
    });
    history.replaceState(null, '', `#${tabs[index].id}`);
    // A tab that is opened for the first time shows an example.
    tabs[index].begin?.();
    delete tabs[index].begin;
    document.title = `${tabs[index].title} – ELMo in the browser`;
  }

  addEventListener('hashchange', () => choose(location.hash.slice(1)));
  choose(location.hash.slice(1));
}

async function start() {
  const about = await (await fetch('/models')).json();
  const titles = about.models.map((model) => model.title);
  const isTwice = (title) => titles.filter((other) => other === title).length > 1;
  addTabs([
    ...about.models.map((model) => ({
      id: model.name.replaceAll('/', '-'),
      title: isTwice(model.title) ? `${model.title}: ${model.name}` : model.title,
      ...form({
        ...model,
        description: `The model “${model.name}”: ${model.class} with ${model.parameters.toLocaleString('en')} parameters.`,
      }, `/predict/${model.name}`),
    })),
    ...about.tools.map((tool) => ({
      id: tool.task,
      title: tool.title,
      ...form({ ...tool, description: `The biLM “${about.bilm}”.` }, `/${tool.task}`),
    })),
    { id: 'mix', title: 'Mix', content: mixes(about.models) },
  ]);
}

start().catch((problem) => {
  document.getElementById('panels').replaceChildren(make('p', { class: 'error', role: 'alert' }, `The server cannot be reached (${problem.message}).`));
});
