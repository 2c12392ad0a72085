// Runs code in a fresh isolate for every job that its parent sends.
import ivm from 'isolated-vm';

process.on('message', async ({ code, input }) => {
  const isolate = new ivm.Isolate({ memoryLimit: 128 });
  try {
    const context = await isolate.createContext();
    const module = await isolate.compileModule(code);
    await module.instantiate(context, () => {
      throw new Error('nothing is imported');
    });
    await module.evaluate({ timeout: 5_000 });
    const main = await module.namespace.get('default', { reference: true });
    const ok = await main.apply(undefined, [new ivm.ExternalCopy(input).copyInto()], {
      timeout: 5_000,
      arguments: { copy: true },
      result: { copy: true, promise: true },
    });
    process.send({ ok });
  } catch (error) {
    process.send({ error: String(error) });
  } finally {
    isolate.dispose();
  }
});
