"""What a step raises if the service does not do what it says."""


class Difference(Exception):
    """What the service does otherwise, in words."""


def expect(holds, complaint):
    if not holds:
        raise Difference(complaint)
