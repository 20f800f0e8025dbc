"""Do rankings of architectures carry over from one dataset to another?"""
