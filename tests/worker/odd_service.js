// A service behind the binding that answers in the way the model's name asks for.

const ANSWERS = {
  "@cf/odd/connection": () => {
    throw new Error("internal error; reference = 0000");
  },
  "@cf/odd/exception": () => {
    throw new Error("5006: required properties are missing");
  },
  "@cf/odd/page": () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
  "@cf/odd/words": () => Response.json({ trouble: true }, { status: 400 }),
  "@cf/odd/queue": () =>
    Response.json({ errors: [{ code: 8007, message: "This model does not support request queuing" }] }, { status: 400 }),
  "@cf/odd/capacity": () =>
    Response.json(
      { internalCode: 3040, name: "OutOfCapacity", description: "Capacity temporarily exceeded" },
      { status: 500, headers: { "retry-after": "7" } },
    ),
  "@cf/odd/code": () => Response.json({ internalCode: 3999, description: "Something new" }, { status: 418 }),
  "@cf/odd/large": () => new Response(largeAnswer(), { headers: { "content-type": "application/json" } }),
  "@cf/odd/echo": async (request) => Response.json(await request.json(), { status: 202 }),
};

// 2,500 vectors as the service writes them, 50 MB, made one after another.
function largeAnswer() {
  const vector = Array.from({ length: 1024 }, (_, index) => (0.0123456789 + index / 1e5).toFixed(16));
  const encoder = new TextEncoder();
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      const result = `{"data":[[${vector}]],"shape":[1,1024]}`;
      const begin = sent ? "," : '{"responses":[';
      controller.enqueue(encoder.encode(`${begin}{"id":${sent},"success":true,"result":${result}}`));
      sent += 1;
      if (sent < 2500) return;
      controller.enqueue(encoder.encode("]}"));
      controller.close();
    },
  });
}

export default {
  fetch: (request) => ANSWERS[request.headers.get("cf-consn-model-id")](request),
};
