// The service behind the binding, played by the practice service: takes the envelope off its answers, and gives
// refusals the form in which the binding expects them.

const ACCOUNT = "0123456789abcdef0123456789abcdef";

export default {
  async fetch(request, env) {
    const model = request.headers.get("cf-consn-model-id");
    const { inputs, options } = await request.json();
    const address = `http://practice/client/v4/accounts/${ACCOUNT}/ai/run/${model}`;
    const reply = await env.PRACTICE.fetch(address + (options.queueRequest ? "?queueRequest=true" : ""), {
      method: "POST",
      headers: { authorization: "Bearer practice", "content-type": "application/json" },
      body: JSON.stringify(inputs),
    });
    const { result, success, errors } = await reply.json();
    if (success) return Response.json(result, { status: reply.status });
    const [{ code, message }] = errors;
    return Response.json(
      { internalCode: code, name: "AiError", message, description: message },
      { status: reply.status },
    );
  },
};
