def read(run):
    raise NotImplementedError
