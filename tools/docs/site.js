// SPDX-License-Identifier: Apache-2.0
// Search in the pages, and the menu on narrow screens. The index (index.js) is loaded when somebody searches:
// a list of [address, page, heading, words]. It is a script, because pages from a file may not fetch data.
'use strict';
(() => {
  const root = document.documentElement.dataset.root;
  const box = document.querySelector('.search');
  const input = box.querySelector('input');
  const list = box.querySelector('.found');
  const state = box.querySelector('[role=status]');
  const menu = document.querySelector('.all');
  const MOST = 12, AROUND = 70;
  let chosen = -1;

  if (matchMedia('(max-width: 56rem)').matches) {
    menu.open = false;
  }
  box.hidden = false;

  function load() {
    if (window.weftIndex || document.getElementById('index')) {
      return;
    }
    const script = document.createElement('script');
    script.id = 'index';
    script.src = root + 'index.js';
    script.onload = show;
    document.head.append(script);
  }

  // How well a section answers: words in its heading count most, beginnings of words more than the rest of them.
  // 0: a word is missing. Pages for developers, and the manual pages, which repeat the reference, go last.
  function score(row, words) {
    const title = row[1].toLowerCase(), heading = row[2].toLowerCase(), text = row[4];
    let sum = 0;
    for (const word of words) {
      const inHeading = heading.includes(word), inTitle = title.includes(word);
      const times = text.split(word).length - 1;
      if (!inHeading && !inTitle && times === 0) {
        return 0;
      }
      const begins = (' ' + text).split(new RegExp('[^a-z0-9]' + escaped(word))).length - 1;
      sum += (inHeading ? 12 : 0) + (heading === word ? 20 : 0) + (inTitle ? 6 : 0) +
        Math.min(times, 4) / 2 + Math.min(begins, 5);
    }
    sum += words.length > 1 && (heading + ' ' + text).includes(words.join(' ')) ? 10 : 0;
    return /^(man|dev|CHANGELOG)/.test(row[0]) ? sum / 2 : sum;
  }

  function escaped(word) {
    return word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  }

  function prepared() {
    for (const row of window.weftIndex) {
      row[4] = row[4] ?? row[3].toLowerCase();
    }
    return window.weftIndex;
  }

  function marked(text, words) {
    const span = document.createElement('span');
    const safe = words.map(escaped);
    for (const [i, part] of text.split(new RegExp('(' + safe.join('|') + ')', 'i')).entries()) {
      const node = i % 2 ? document.createElement('mark') : document.createTextNode('');
      node.textContent = part;
      span.append(node);
    }
    return span;
  }

  function excerpt(row, words) {
    const places = words.map(word => row[4].indexOf(word)).filter(i => i >= 0);
    const phrase = row[4].indexOf(words.join(' '));
    const from = Math.max(0, (phrase >= 0 ? phrase : Math.min(...places, row[4].length)) - AROUND);
    return (from > 0 ? '...' : '') + row[3].slice(from, from + 3 * AROUND);
  }

  function item(row, words) {
    const li = document.createElement('li'), a = document.createElement('a');
    const where = document.createElement('span'), text = document.createElement('span');
    a.href = root + row[0];
    where.className = 'where';
    where.append(marked(row[2] && row[2] !== row[1] ? row[1] + ': ' + row[2] : row[1], words));
    text.className = 'words';
    text.append(marked(excerpt(row, words), words));
    a.append(where, text);
    li.append(a);
    return li;
  }

  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(word => word !== '');
    chosen = -1;
    list.replaceChildren();
    state.textContent = '';
    if (words.length === 0 || !window.weftIndex) {
      return;
    }
    const all = prepared().map(row => [score(row, words), row]).filter(([points]) => points > 0);
    all.sort((a, b) => b[0] - a[0]);
    list.append(...all.slice(0, MOST).map(([, row]) => item(row, words)));
    state.textContent = all.length === 0 ? 'nothing found' :
      all.length > MOST ? `the best ${MOST} of ${all.length}` : `${all.length} found`;
  }

  function choose(step) {
    const items = [...list.children];
    if (items.length === 0) {
      return;
    }
    chosen = (chosen + step + items.length) % items.length;
    items.forEach((li, i) => li.classList.toggle('chosen', i === chosen));
    items[chosen].scrollIntoView({block: 'nearest'});
  }

  input.addEventListener('focus', load);
  input.addEventListener('input', () => { load(); show(); });
  input.addEventListener('keydown', event => {
    const keys = {ArrowDown: () => choose(1), ArrowUp: () => choose(-1),
      Escape: () => { input.value = ''; show(); },
      Enter: () => list.children[Math.max(chosen, 0)]?.querySelector('a').click()};
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  document.addEventListener('keydown', event => {
    if (event.key === '/' && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
})();
