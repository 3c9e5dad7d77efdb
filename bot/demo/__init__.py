"""`runwatch demo`: the whole product on one machine, with runs that go wrong one after another."""
