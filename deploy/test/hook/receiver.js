'use strict';
// A merchant's receiver of webhooks, with the official library. It prints its URL on the first line, then one JSON line for every
// delivery: whether the library takes it, and what it is. Every line on its input is the signing secret from then on. Package hook
// starts it.

const http = require('node:http');
const readline = require('node:readline');
const {Webhook, WebhookVerificationError} = require('standardwebhooks');

let webhook = null;

const receive = (request, body) => {
  try {
    return {verified: true, event: webhook.verify(body, request.headers)};
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return {verified: false};
  }
};

const server = http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts).toString('utf8');
    const {verified, event} = receive(request, body);
    response.writeHead(verified ? 204 : 400).end();
    console.log(JSON.stringify({verified, id: request.headers['webhook-id'], signatures: request.headers['webhook-signature'].split(' ').length,
      event_id: event?.id ?? '', body}));
  });
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/webhooks`));
readline.createInterface({input: process.stdin})
  .on('line', (secret) => {
    webhook = new Webhook(secret);
    console.log('"ready"');
  })
  .on('close', () => process.exit(0));
