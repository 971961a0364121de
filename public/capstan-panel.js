/*
 * <capstan-panel>: a Capstan panel in a host page. Load it from the Capstan it belongs to, as a plain script:
 *
 *   <script src="https://capstan.example/capstan-panel.js" defer></script>
 *   <capstan-panel session-endpoint="/my/panel-session"></capstan-panel>
 *
 * The endpoint is the host's own: it answers a POST with what POST /v1/panel-sessions answered it ({sessionId, accessToken}).
 * Or set the property `session` to that object. Events, all with `detail`: capstan-ready, capstan-job-submitted,
 * capstan-job-completed, capstan-error.
 */
// The block keeps these names out of the host page's globals.
{
  const PROTOCOL = "service.panel.v1";
  const HERE = new URL(document.currentScript?.src ?? location.href).origin;

  /**
   * One frame and its messages. Nothing is sent to the frame before the frame has sent hello from the origin that it was
   * loaded from.
   */
  class CapstanFrame {
    #frame;
    #origin;
    #told;
    #onMessage;
    #waiting = [];
    /** The last sent session. A page in the frame that reloads gets it again. */
    #session = null;
    #isListening = false;

    constructor({ parent, origin = HERE, sessionId, definitionId, title = "Panel", onMessage }) {
      this.#origin = origin;
      this.#told = onMessage;
      this.#frame = document.createElement("iframe");
      this.#frame.title = title;
      this.#frame.style.cssText = "border:0;width:100%;display:block;min-height:12rem;color-scheme:normal";
      const named = sessionId ? ["session", sessionId] : ["definition", definitionId ?? ""];
      this.#onMessage = (event) => this.#hear(event);
      window.addEventListener("message", this.#onMessage);
      this.#frame.src = `${origin}/embed?${new URLSearchParams([named])}`;
      parent.append(this.#frame);
    }

    #hear({ source, origin, data }) {
      if (source !== this.#frame.contentWindow || origin !== this.#origin) return;
      if (typeof data !== "object" || data === null || data.protocol !== PROTOCOL) return;
      if (data.type === "hello") {
        this.#isListening = true;
        if (this.#session) this.#post(this.#session);
        for (const message of this.#waiting.splice(0)) this.#post(message);
      }
      if (data.type === "resize" && Number.isFinite(data.height))
        this.#frame.style.height = `${Math.min(Math.max(data.height, 0), 20_000)}px`;
      this.#told?.(data);
    }

    #post(message) {
      this.#frame.contentWindow?.postMessage({ protocol: PROTOCOL, ...message }, this.#origin);
    }

    /**
     * Sends `session`, `prefill` or `theme`. A message is kept until the frame listens, and `session` is sent again after
     * each hello.
     */
    send(message) {
      if (message.type === "session") this.#session = message;
      if (this.#isListening) this.#post(message);
      else if (message.type !== "session") this.#waiting.push(message);
    }

    close() {
      window.removeEventListener("message", this.#onMessage);
      this.#frame.remove();
    }
  }

  const EVENTS = {
    ready: "capstan-ready",
    "job.submitted": "capstan-job-submitted",
    "job.completed": "capstan-job-completed",
    error: "capstan-error",
  };

  class CapstanPanel extends HTMLElement {
    static observedAttributes = ["theme"];
    #frame = null;
    #session = null;
    #inputs = null;
    #isAsking = false;

    /** The session as POST /v1/panel-sessions returned it, {sessionId, accessToken}; held only in memory. */
    set session(session) {
      this.#session = session;
      this.#open();
    }

    /** The values to fill into the form. */
    set inputs(inputs) {
      this.#inputs = inputs;
      this.#frame?.send({ type: "prefill", inputs });
    }

    connectedCallback() {
      this.style.display ||= "block";
      if (this.#session) this.#open();
      else if (this.getAttribute("session-endpoint")) void this.#ask();
    }

    disconnectedCallback() {
      this.#frame?.close();
      this.#frame = null;
    }

    attributeChangedCallback(_name, _before, theme) {
      if (theme) this.#frame?.send({ type: "theme", theme });
    }

    /** Asks the host's own endpoint for a new session. */
    async renew() {
      await this.#ask();
    }

    async #ask() {
      if (this.#isAsking) return;
      this.#isAsking = true;
      try {
        const answer = await fetch(this.getAttribute("session-endpoint"), { method: "POST" });
        if (!answer.ok) throw new Error(`the session endpoint answered ${answer.status}`);
        this.session = await answer.json();
      } catch (cause) {
        this.#emit("capstan-error", {
          category: "session_unavailable",
          message: String(cause.message ?? cause),
        });
      } finally {
        this.#isAsking = false;
      }
    }

    #open() {
      if (!this.isConnected || !this.#session) return;
      this.#frame?.close();
      const { sessionId, accessToken } = this.#session;
      this.#frame = new CapstanFrame({
        parent: this,
        origin: this.getAttribute("origin") ?? HERE,
        sessionId,
        title: this.getAttribute("title") ?? "Panel",
        onMessage: (message) => this.#hear(message),
      });
      this.#frame.send({ type: "session", token: accessToken });
    }

    #hear({ protocol: _protocol, type, ...detail }) {
      if (type === "ready") {
        // The form exists now.
        const theme = this.getAttribute("theme");
        if (theme) this.#frame?.send({ type: "theme", theme });
        if (this.#inputs) this.#frame?.send({ type: "prefill", inputs: this.#inputs });
      }
      if (EVENTS[type]) this.#emit(EVENTS[type], detail);
    }

    #emit(name, detail) {
      this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
    }
  }

  window.CapstanFrame = CapstanFrame;
  if (!customElements.get("capstan-panel")) customElements.define("capstan-panel", CapstanPanel);
}
