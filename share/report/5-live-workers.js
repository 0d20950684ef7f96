/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator of a live page, in workers: one for the reader, one for curves. */

const base64Bytes = (text) => bytesOf(text);

async function unpack(base64) {
  const packed = new Blob([base64Bytes(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/* What a worker does: it gets the module and the files, then runs. */
function workerMain() {
  let simulator = null;
  self.onmessage = ({data}) => {
    if (data.module) simulator = self.weftSimulator(data.module);
    for (const {path, bytes} of data.files || []) simulator.addFile(path, bytes);
    if (data.id == null) return;
    self.postMessage({id: data.id, answer: data.settings ? simulator.run(data.settings, data.options) : simulator.catalog()});
  };
}

/* The parts that all workers share; loaded once. */
const live = {module: null, files: []};

async function loadSimulator() {
  live.files = await Promise.all((extra.live.files || []).map(async (file) => ({path: file.path, bytes: await unpack(file.gzip)})));
  live.module = await WebAssembly.compile(await unpack(document.getElementById("simulator").textContent));
}

/* A worker that answers one question at a time. `ask` gives a promise; `stop` ends what runs, whose
 * promise then never answers. */
function newWorker() {
  const source = `self.weftSimulator = ${weftSimulator}; (${workerMain})();`;
  const address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
  let worker = null, waiting = new Map(), next = 0;
  const start = () => {
    worker = new Worker(address);
    worker.onmessage = ({data}) => {
      const answer = waiting.get(data.id);
      waiting.delete(data.id);
      if (answer) answer(data.answer);
    };
    worker.postMessage({module: live.module, files: live.files});
  };
  const ask = (question) => new Promise((answer) => {
    if (!worker) start();
    waiting.set(++next, answer);
    worker.postMessage({...question, id: next});
  });
  return {
    run: (settings, options) => ask({settings, options}),
    catalog: () => ask({}),
    addFiles(files) { if (worker) worker.postMessage({files}); },
    busy: () => waiting.size > 0,
    stop() {
      if (worker && waiting.size > 0) {
        worker.terminate();
        worker = null;
        waiting = new Map();
      }
    },
  };
}
