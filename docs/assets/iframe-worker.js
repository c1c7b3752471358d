// Search in pages that are opened as files: browsers refuse to start a Worker from file://, so a hidden frame stands in
// for it. It loads the same script; messages pass between the window and the frame.
(() => {
  if (location.protocol !== "file:") return;

  const prelude = `
    window.postMessage = (data) => parent.dispatchEvent(new CustomEvent("frame-worker", { detail: data }));
    window.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = done;
      document.body.appendChild(script);
    })), Promise.resolve());`;

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      window.addEventListener("frame-worker", ({ detail }) => {
        const message = new MessageEvent("message", { data: detail });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
      const page = this.frame.contentWindow.document;
      page.open();
      page.write(`<html><body><script>${prelude}<\/script><script src="${url}"><\/script></body></html>`);
      page.close();
      // Only now: opening a document takes all listeners of its window away.
      this.ready = new Promise((done) => { this.frame.contentWindow.onload = done; });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
})();
