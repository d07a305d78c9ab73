// The least that a Worker in front of a model does: it passes the stream through.

interface Env {
  ANTHROPIC_BASE_URL: string;
  ANTHROPIC_API_KEY: string;
}

export default {
  async fetch(request, env) {
    if (request.method !== "POST") return new Response("ok");
    const answer = await fetch(`${env.ANTHROPIC_BASE_URL}/v1/messages`, {
      method: "POST",
      headers: {
        "x-api-key": env.ANTHROPIC_API_KEY,
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
        "x-memdir-purpose": "main",
      },
      body: JSON.stringify({
        model: "claude-opus-5-5",
        max_tokens: 32_000,
        stream: true,
        messages: [{ role: "user", content: await request.text() }],
      }),
    });
    return new Response(answer.body, { headers: { "content-type": "text/event-stream" } });
  },
} satisfies ExportedHandler<Env>;
